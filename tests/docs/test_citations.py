"""Every citation refers to an existing file and heading."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CITED = re.compile(r"\bdocs/(?:spec|adr)/[\w-]*(?:\.md)?(?:#[\w-]+)?")
TEXTS = {".py", ".md", ".yaml", ".hog", ".txt", ".toml", ".js"}


def github_slug(heading: str) -> str:
    """The anchor that GitHub makes of a heading: ``9.1 A `b` (c)`` is ``91-a-b-c``."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def anchors(document: Path) -> frozenset[str]:
    headings = re.findall(r"^#+ (.*)$", document.read_text("utf-8"), re.MULTILINE)
    return frozenset(github_slug(heading) for heading in headings)


def citations() -> Iterator[tuple[str, str]]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split():
        file = ROOT / name
        if file.suffix in TEXTS and file.is_file() and name != "tests/docs/test_citations.py":
            for citation in CITED.findall(file.read_text("utf-8")):
                yield name, citation


def is_dead(citation: str) -> bool:
    path, _, anchor = citation.partition("#")
    document = ROOT / path
    if path.endswith("/"):
        return not document.is_dir()
    return not document.is_file() or bool(anchor and anchor not in anchors(document))


def test_every_citation_resolves() -> None:
    cited = list(citations())
    assert len(cited) > 300
    assert [f"{name}: {citation}" for name, citation in cited if is_dead(citation)] == []


def test_a_dead_citation_is_noticed() -> None:
    assert is_dead("docs/spec/hog-functions.md#99-nothing")
    assert is_dead("docs/spec/nothing.md")
    assert not is_dead("docs/spec/hog-functions.md#12-errors-keys-rate-limits")
