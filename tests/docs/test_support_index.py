"""tests/support/README.md lists every support module with the first line of its docstring."""

import ast
import re
from pathlib import Path

SUPPORT = Path(__file__).parents[1] / "support"


def summaries() -> dict[str, str]:
    documented: dict[str, str] = {}
    for file in SUPPORT.glob("*.py"):
        text = ast.get_docstring(ast.parse(file.read_text())) or ""
        if file.name != "__init__.py":
            documented[file.name] = text.split("\n")[0].replace("``", "`")
    return documented


def test_the_index_lists_every_support_module() -> None:
    index = (SUPPORT / "README.md").read_text()

    assert dict(re.findall(r"^\| `(\w+\.py)` \| (.+) \|$", index, re.MULTILINE)) == summaries()
