"""The page of decisions and the navigation of the site have every decision."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DECISIONS = ROOT / "docs/adr"
FILES = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))


def test_the_page_lists_every_decision_once_beside_its_number() -> None:
    _, listed = (DECISIONS / "README.md").read_text().split("## All decisions")

    links = re.findall(r"\[(\d+)\]\(([^)]+)\)", listed)

    assert sorted(name for _, name in links) == FILES
    assert all(int(number) == int(name[:4]) for number, name in links)


def test_the_page_names_ten_to_read_first() -> None:
    first, _ = (DECISIONS / "README.md").read_text().split("## All decisions")

    names = re.findall(r"^\| \[\d+\]\(([^)]+)\)", first, re.MULTILINE)

    assert len(names) == 10
    assert set(names) <= set(FILES)


def test_the_site_has_every_decision() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()

    assert re.findall(r"- adr/([0-9].*\.md)", navigation) == FILES
