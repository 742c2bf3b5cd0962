"""Relative dates have the same meaning everywhere: one table, every parser."""

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoglet.access.variable_values import convert
from hoglet.access.variables import InsightVariable
from hoglet.endpoints.variables import with_moments
from hoglet.functions.compile.hog import expression_bytecode
from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.build import build_filter
from hoglet.functions.filters.context import FilterContext
from hoglet.hogql import QueryContext, compile_query, property_condition
from hoglet.hogql.ast_builders import walk
from hoglet.hogql.insights.plan import build_insight
from hoglet.kit.errors import Invalid, SourceError
from hoglet.kit.relative_dates import (
    DateClock,
    NotADate,
    as_text,
    range_bounds,
    resolve_date,
)
from hoglet.syntax import tree
from support.date_cases import REFUSED, DateCase, date_cases

CASES = date_cases()
VARIABLE = UUID(int=7)
SERIES = [{"kind": "EventsNode", "event": "a"}]


def context_of(clock: DateClock) -> QueryContext:
    return QueryContext(
        project_id=1, now=clock.now, timezone=clock.zone, week_start_day=clock.week_start_day
    )


def instant(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_the_resolver(case: DateCase) -> None:
    resolved = resolve_date(case.text, case.clock)

    assert instant(resolved.at) == instant(case.at)
    assert resolved.at.tzinfo == ZoneInfo(case.clock.zone)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_bounds_of_filters(case: DateCase) -> None:
    query = "SELECT 1 FROM events WHERE {filters}"
    dates = {"dateRange": {"date_from": case.text, "date_to": case.text}}

    sql = compile_query(query, context=context_of(case.clock), filters=dates)

    bounds = range_bounds(case.text, case.text, case.clock)
    assert bounds.start is not None
    assert bounds.end is not None
    assert (instant(bounds.start), instant(bounds.end)) == (
        instant(case.starts),
        instant(case.ends),
    )
    assert bounds.includes_end == case.includes_end
    assert {as_text(case.starts), as_text(case.ends)} <= set(sql.params.values())


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_explicit_bounds_are_not_rounded(case: DateCase) -> None:
    bounds = range_bounds(case.text, case.text, case.clock, explicit=True)

    assert bounds.start is not None
    assert bounds.end is not None
    assert {instant(bounds.start), instant(bounds.end)} == {instant(case.at)}


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_explicit_dates_of_insights(case: DateCase) -> None:
    dates = {"date_from": case.text, "date_to": case.text, "explicitDate": True}
    query = {"kind": "TrendsQuery", "series": SERIES, "dateRange": dates}

    date_range = build_insight(query, context_of(case.clock)).date_range

    assert {instant(datetime.fromisoformat(text)) for text in date_range.values()} == {
        instant(case.at)
    }


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_property_filters_of_insights(case: DateCase) -> None:
    rule = {"key": "k", "operator": "is_date_after", "value": case.text}

    condition = property_condition(rule, context_of(case.clock))

    texts = [node.value for node in walk(condition) if isinstance(node, tree.Constant)]
    assert as_text(case.at) in texts


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_filters_of_functions(case: DateCase) -> None:
    rule = {"key": "k", "type": "event", "operator": "is_date_after", "value": case.text}
    clock = case.clock
    context = FilterContext(now=clock.now, timezone=clock.zone, week_start_day=clock.week_start_day)

    bytecode = expression_bytecode(build_filter({"properties": [rule]}, context))

    # the bytecode begins with the text that the program turns into a date
    resolved = resolve_date(bytecode[3], DateClock(clock.now, "UTC")).at
    assert instant(resolved) == instant(case.at)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_date_variables(case: DateCase) -> None:
    known = [
        InsightVariable(VARIABLE, "Since", "since", "Date", None, None, False, None, case.clock.now)
    ]
    query = {"variables": {str(VARIABLE): {"variableId": str(VARIABLE), "code_name": "since"}}}
    sent = {"since": convert("since", case.text, "Date")}

    text = with_moments(query, sent, known, case.clock)["since"]

    # a text with a time of day stays as it was sent
    assert instant(resolve_date(text, case.clock).at) == instant(case.at)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_date_is_refused_everywhere(text: str) -> None:
    clock = DateClock(datetime(2026, 1, 14, tzinfo=UTC))
    context = context_of(clock)
    rule = {"key": "k", "type": "event", "operator": "is_date_after", "value": text}

    with pytest.raises(NotADate):
        resolve_date(text, clock)
    for key in ("date_from", "date_to"):
        dates = {"dateRange": {key: text}}
        with pytest.raises(SourceError) as error:
            compile_query("SELECT 1 FROM events WHERE {filters}", context=context, filters=dates)
        assert error.value.attr == f"filters__dateRange__{key}"
        with pytest.raises(SourceError) as error:
            build_insight({"kind": "TrendsQuery", "series": SERIES, **dates}, context)
        assert error.value.attr == f"dateRange__{key}"
    with pytest.raises(SourceError):
        property_condition(rule, context)
    with pytest.raises(FilterRefused):
        build_filter({"properties": [rule]}, FilterContext(now=clock.now))
    with pytest.raises(Invalid):
        convert("since", text, "Date")


def test_all_is_no_bound_of_a_beginning_only() -> None:
    clock = DateClock(datetime(2026, 1, 14, tzinfo=UTC))

    assert range_bounds("all", None, clock) == (None, None, True)
    with pytest.raises(NotADate):
        range_bounds(None, "all", clock)
    query = {"kind": "TrendsQuery", "series": SERIES, "dateRange": {"date_to": "all"}}
    with pytest.raises(SourceError) as error:
        build_insight(query, context_of(clock))
    assert error.value.attr == "dateRange__date_to"


def test_a_range_without_an_end_ends_with_today_unless_it_is_of_hours() -> None:
    clock = DateClock(datetime(2026, 1, 14, 15, tzinfo=UTC))
    today = datetime(2026, 1, 14, 23, 59, 59, 999_999, tzinfo=UTC)

    assert range_bounds("-7d", None, clock).end == today
    assert range_bounds("mStart", "", clock).end == today
    assert range_bounds("2026-01-01", None, clock).end == today
    for date_from in (None, "", "all", "-3h", "-90M", "-5s"):
        assert range_bounds(date_from, None, clock).end is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [("-2H", "-2h"), ("-1mstart", "-1mStart"), ("-1MSTART", "-1mStart"), ("WEND", "wEnd"),
     (" -7d", "-7d"), ("-7D ", "-7d")],
)  # fmt: skip
def test_the_refusal_says_what_was_meant(text: str, meant: str) -> None:
    with pytest.raises(NotADate, match=f"Did you mean '{meant}'"):
        resolve_date(text, DateClock(datetime(2026, 1, 14, tzinfo=UTC)))


@given(
    seconds=st.integers(946_684_800, 2_114_380_800),  # 2000 to 2036
    zone=st.sampled_from(
        ["Europe/Berlin", "America/New_York", "Asia/Beirut", "Australia/Lord_Howe"]
    ),
    count=st.integers(1, 3000),
    unit=st.sampled_from("sMhd"),
)
def test_the_wall_clock_decides(seconds: int, zone: str, count: int, unit: str) -> None:
    now = datetime.fromtimestamp(seconds, UTC)
    length = {"s": 1, "M": 60, "h": 3600, "d": 86_400}[unit]
    wall = now.astimezone(ZoneInfo(zone)).replace(tzinfo=None) - timedelta(seconds=count * length)

    resolved = resolve_date(f"-{count}{unit}", DateClock(now, zone)).at

    # candidates: every nearby instant that a clock in the zone shows as this time
    near = [wall.replace(tzinfo=UTC) - timedelta(minutes=offset) for offset in range(-720, 841, 15)]
    same = [at for at in near if at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) == wall]
    if same:
        assert instant(resolved) == min(same)
    else:  # in a gap: as far after the gap as the wall time is after its start
        wall_time = resolved.replace(tzinfo=None)
        assert timedelta(0) < wall_time - wall <= timedelta(hours=1)
