"""Runs Hog programs in a separate process, where nothing else allocates.

A memory budget is compared with the growth of the whole process. In the test process, engines
of other tests allocate from their own threads.
"""

from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import pytest

from hoglet.hog.python.budget import Budget
from hoglet.hog.python.memory import process_bytes
from hoglet.hog.python.run_to_end import run_program


class Measured(NamedTuple):
    """How a run ended, and by how many bytes its process grew."""

    kind: str | None
    text: str
    grown: int


RunAlone = Callable[..., Measured]


def _run(source: str, budget: dict[str, Any], values: dict[str, Any]) -> Measured:
    before = process_bytes()
    outcome = run_program(
        source,
        globals=values,
        functions={"fetch": lambda _: None},
        async_functions={"fetch"},
        budget=Budget(**budget),
    )
    grown = process_bytes() - before
    if outcome.error is None:
        return Measured(None, "", grown)
    return Measured(outcome.error.kind, outcome.error.text, grown)


@pytest.fixture(scope="session")
def run_alone() -> Generator[RunAlone]:
    """Run a program with ``fetch``: ``run_alone(source, values, memory_bytes=4_000_000)``."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        yield lambda source, values=None, **budget: pool.submit(
            _run, source, budget, values or {}
        ).result()
