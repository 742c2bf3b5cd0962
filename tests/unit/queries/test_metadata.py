"""Notices about cohorts and types, and fixes that yield valid text.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

import pytest

from hoglet.hogql.context import CohortRef, QueryContext
from hoglet.queries.worker.metadata import metadata

CONTEXT = QueryContext(
    project_id=1,
    property_types={("event", "price"): "Numeric"},
    cohorts={
        "12": CohortRef("Paying"),
        "13": CohortRef("it's"),
        "14": CohortRef("twice"),
        "15": CohortRef("twice"),
    },
)


def notices(text: str) -> list[tuple[str, str | None]]:
    report = metadata({"language": "hogQL", "query": text}, CONTEXT, {})
    assert not report.errors, report.errors
    return [(text[each["start"] : each["end"]], each["fix"]) for each in report.notices]


@pytest.mark.parametrize(
    ("cohort", "fix"),
    [
        ("12", "'Paying'"),
        ("'Paying'", "12"),
        ("13", r"'it\'s'"),
        (r"'it\'s'", "13"),
        ("14", None),
    ],
)
@pytest.mark.parametrize("operator", ["in cohort", "not in cohort"])
def test_the_other_form_of_a_cohort_is_the_fix(operator: str, cohort: str, fix: str | None) -> None:
    text = f"select 1 from events where person_id {operator} {{}}"
    assert notices(text.format(cohort)) == [(cohort, fix)]
    if fix is not None:
        assert notices(text.format(fix)) == [(fix, cohort)]


def test_types_are_named() -> None:
    text = "select properties.price, properties.other from events"
    report = metadata({"language": "hogQL", "query": text}, CONTEXT, {})
    assert ["Numeric" in each["message"] for each in report.notices] == [True, False]
    assert all(each["fix"] is None for each in report.notices)


def test_an_unknown_cohort_is_an_error_at_its_place() -> None:
    text = "select 1 from events where person_id in cohort 99"
    report = metadata({"language": "hogQL", "query": text}, CONTEXT, {})
    (error,) = report.errors
    assert "99" in text[error["start"] : error["end"]]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("timestamp > 2026-01-05", [("2026-01-05", "'2026-01-05'")]),
        ("toDate(timestamp) = 2026-1-5", [("2026-1-5", "'2026-1-5'")]),
        ("timestamp between 2026-01-05 and '2026-01-06'", [("2026-01-05", "'2026-01-05'")]),
        ("timestamp > '2026-01-05'", []),
        ("properties.price > 2026 - 1 - 5", []),
        ("properties.price > 2026-1", []),
    ],
)
def test_dates_without_quotes_are_warned_of(
    condition: str, expected: list[tuple[str, str]]
) -> None:
    text = f"select 1 from events where timestamp < now() and {condition}"
    report = metadata({"language": "hogQL", "query": text}, CONTEXT, {})
    warned = [(text[each["start"] : each["end"]], each["fix"]) for each in report.warnings]
    assert not report.errors
    assert warned == expected
