"""Measures Hog programs for ``hoglet hog bench``."""

import statistics
import time
from pathlib import Path
from typing import Any

from hoglet.hog.compile import compile_program
from hoglet.hog.python import compile_python, run_program
from hoglet.kit.text import replace_surrogates

_LEAST_RUNS = 5
_MOST_RUNS = 200
_ENOUGH_S = 2.0


def measure(file: Path, source: str, values: dict[str, Any]) -> float:
    """Median milliseconds of a warm run of ``source`` with the default budget.

    Args:
        file: where it stands; ``<stem>.stdout`` beside it holds what it has to print.
        source: the program.
        values: the globals.

    Raises:
        SourceError: it does not compile.
        ValueError: it fails, or prints something else than expected.
    """
    program = compile_python(compile_program(source))
    _check(file, run_program(program, globals=values))
    times: list[float] = []
    while len(times) < _LEAST_RUNS or (len(times) < _MOST_RUNS and sum(times) < _ENOUGH_S):
        start = time.perf_counter()
        run_program(program, globals=values)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def _check(file: Path, outcome: Any) -> None:
    if outcome.error is not None:
        raise ValueError(f"{file}: {outcome.error.text}")
    expected = file.with_suffix(".stdout")
    if not expected.exists():
        return
    printed = "".join(f"{replace_surrogates(line)}\n" for line in outcome.lines)
    if printed != expected.read_text(encoding="utf-8"):
        raise ValueError(f"{file}: what it prints is not what {expected.name} holds")
