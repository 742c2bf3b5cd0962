"""ARCHITECTURE.md lists every package, and every file and name in it exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
SOURCE = ROOT / "src" / "hoglet"


def test_the_package_table_lists_exactly_the_packages():
    table = TEXT.split("## Packages")[1].split("\n## ")[0]
    listed = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}

    assert listed == packages | {"settings"}


def test_every_file_that_a_traced_route_names_exists():
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+\.py)(?::[\w.]+)?`", TEXT))

    assert named, "the page names no files"
    assert [name for name in sorted(named) if not (SOURCE / name).exists()] == []


def test_every_function_that_a_traced_route_names_exists():
    for file, name in re.findall(r"`([a-z_/]+\.py):([\w.]+)`", TEXT):
        last = name.rsplit(".", 1)[-1]

        assert re.search(rf"\b(def|class) {last}\b", (SOURCE / file).read_text()), f"{file}:{name}"
