"""Examples of library functions print the same on the official VM and in JavaScript."""

import pytest

from hoglet.hog.javascript.library import helpers
from hoglet.hog.javascript.names import safe_name
from hoglet.hog.stdlib.table import STL, LibraryEntry
from support.hog_cases import Case
from support.hog_engines import run_javascript, run_machine

WITH_EXAMPLE = [entry for entry in STL.values() if entry.printed is not None]

# Where the specification wants something else than the machine gives
# (docs/spec/hog-functions.md#11-templates, or docs/spec/hog-functions.md#9-rows-6-13
# against the machine): the example shows ours.
DEVIATES = {
    "JSONExtractString",
    "arrayReverseSort",
    "arraySort",
    "less",
    "max2",
    "replaceOne",
}


def _case(entry: LibraryEntry) -> Case:
    return Case(name=entry.name, source=entry.example, lines=str(entry.printed).split("\n"))


@pytest.mark.parametrize("entry", WITH_EXAMPLE, ids=lambda entry: entry.name)
def test_machine_agrees_with_the_example_but_where_it_deviates(entry: LibraryEntry) -> None:
    case = _case(entry)

    assert (run_machine(case) == (case.lines, None)) == (entry.name not in DEVIATES)


@pytest.mark.parametrize(
    "entry",
    [e for e in WITH_EXAMPLE if safe_name(e.name) in helpers()],
    ids=lambda entry: entry.name,
)
def test_javascript_agrees_with_the_example(entry: LibraryEntry) -> None:
    case = _case(entry)

    assert run_javascript(case) == (case.lines, None)
