"""JSON of the wrong shape is refused with the path of the field."""

import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from hoglet.kit.errors import SourceError
from support.hogql_world import CONTEXT

PAGE = {"kind": "EventsNode", "event": "$pageview"}


@pytest.mark.parametrize(
    ("filters", "path"),
    [
        ({"dateRange": "x"}, "dateRange must be an object"),
        ({"dateRange": {"date_from": 5}}, "dateRange.date_from must be a string"),
        ({"properties": 1}, "properties must be an object"),
        ({"properties": ["a"]}, "properties.0 must be an object"),
        ({"properties": [{"key": "a", "type": []}]}, "properties.0.type must be a string"),
        ({"properties": [{"key": {}, "value": 1}]}, "properties.0.key must be"),
        ({"properties": {"type": "AND", "values": [{"operator": 1}]}}, "values.0.operator"),
        ({"properties": [{"key": "a", "group_type_index": 10**30}]}, "group_type_index"),
    ],
    ids=str,
)
def test_filters(filters, path: str) -> None:
    with pytest.raises(SourceError) as caught:
        compile_query("select 1 from events where {filters}", context=CONTEXT, filters=filters)

    assert path in caught.value.message


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"series": {}}, "series must be a list"),
        ({"series": [1]}, "series.0 must be an object"),
        ({"series": [PAGE, None]}, "series.1 must not be null"),
        ({"series": [{**PAGE, "math": 1}]}, "series.0.math must be a string"),
        ({"series": [PAGE], "interval": []}, "interval must be a string"),
        ({"series": [PAGE], "samplingFactor": "x"}, "samplingFactor must be"),
        ({"series": [PAGE], "breakdownFilter": {"breakdown_limit": "x"}}, "breakdown_limit"),
        ({"series": [PAGE], "compareFilter": True}, "compareFilter must be an object"),
    ],
    ids=str,
)
def test_insights(query, path: str) -> None:
    with pytest.raises(SourceError) as caught:
        build_insight({"kind": "TrendsQuery", **query}, CONTEXT)

    assert path in caught.value.message


def test_null_means_not_sent() -> None:
    assert compile_query(
        "select 1 from events where {filters}",
        context=CONTEXT,
        filters={"dateRange": None, "properties": None, "filterTestAccounts": None},
    )
