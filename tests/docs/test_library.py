"""docs/library.md: its Python runs from top to bottom, and importing loads no server."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
HEAVY = {"aiohttp", "chdb", "fastapi", "granian", "nicegui", "numpy", "pyarrow", "pydantic",
         "sqlalchemy", "starlette", "typer", "uvloop"}  # fmt: skip


def test_the_examples_of_the_page_run() -> None:
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "library.md", "exec"), names)  # noqa: S102 (our own page)
    assert len(BLOCKS) == 4


@pytest.mark.parametrize("module", ["hoglet", "hoglet.hog", "hoglet.hogql"])
def test_importing_loads_nothing_of_the_server(module: str) -> None:
    program = f"import {module}, sys; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in ran.stdout.split()}
    assert loaded & HEAVY == set()
