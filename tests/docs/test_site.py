"""The navigation of mkdocs.yml and the links of pages; `make docs` also checks anchors."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
FENCED = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
CONFLICT = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def _paths(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    for item in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from _paths(item)


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(_paths(SITE["nav"])) == PAGES


def test_the_build_fails_on_a_broken_link_and_loads_nothing_from_other_hosts() -> None:
    assert SITE["strict"] is True
    assert SITE["validation"]["anchors"] == "warn"
    assert SITE["theme"]["font"] is False


@pytest.mark.parametrize("page", PAGES)
def test_relative_links_lead_to_files(page: str) -> None:
    links = LINK.findall(FENCED.sub("", (DOCS / page).read_text()))
    files = {link.split("#")[0] for link in links if not re.match(r"\w+:|#", link)}

    assert [name for name in files if not ((DOCS / page).parent / name).exists()] == []


def test_no_page_has_conflict_markers() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("benchmarks/**/*.md")]

    assert [str(page) for page in pages if CONFLICT.search(page.read_text())] == []


def test_the_first_page_shows_the_tested_commands_of_the_readme() -> None:
    blocks = re.findall(r"(?:^    .*\n)+", (DOCS / "index.md").read_text(), re.MULTILINE)
    readme = (ROOT / "README.md").read_text()

    assert len(blocks) == 8
    assert [block for block in blocks if block not in readme] == []
