"""Flat reads: where a select reads its only table itself, and that shards then aggregate."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.context import QueryContext
from hoglet.hogql.enforce import verify_sql
from hoglet.hogql.schema.catalog import PHYSICAL_TABLES
from hoglet.kit.errors import Bug
from support.hogql_world import CONTEXT

SHARDED = msgspec.structs.replace(CONTEXT, is_sharded=True)
FLAT = "FROM events AS "


def _sql(query: str, context: QueryContext = SHARDED) -> str:
    return compile_query(query, context=context).sql


def test_a_lone_table_is_read_by_the_select() -> None:
    query = "select event, count() from events where event > 'a' group by event"

    assert _sql(query) == (
        "SELECT events.event AS event, count() AS `count()` FROM events AS events"
        " WHERE events.project_id = {project_id:Int64}"
        " AND (greater(events.event, {v0:String})) GROUP BY events.event LIMIT 101"
    )


@pytest.mark.parametrize(
    "condition",
    [
        "e.project_id = 1",
        "f.project_id = {project_id:Int64}",
        "e.project_id = {project_id:Int64} OR 1",
        "e.project_id = {project_id:Int64} AND (1) OR (1)",
        "e.project_id = {project_id:Int64} AND 1",
        "(e.project_id = {project_id:Int64})",
        "1",
    ],
)
def test_a_flat_read_with_another_condition_is_rejected(condition: str) -> None:
    with pytest.raises(Bug):
        verify_sql(f"SELECT 1 FROM events AS e WHERE {condition} LIMIT 1", PHYSICAL_TABLES)


@pytest.mark.parametrize(
    "query",
    [
        "select properties.a as properties_json, count() from events group by 1",
        "select arrayMap(properties_json -> events.properties.a, [1]) from events",
        "select properties.a from events as properties_json",
        "select event as e, properties.a as position from events as e",
    ],
)
def test_a_name_that_would_hide_a_column_keeps_the_subquery(query: str) -> None:
    assert FLAT not in _sql(query)


@pytest.mark.parametrize(
    "query",
    [
        "select count() from events e join persons p on p.id = e.person_id",
        "select count() from persons",
        "select e from events e array join [1, 2] as e",
        "select 1 from events where exists (select 1 from events f where f.event = events.event)",
    ],
)
def test_other_reads_stay_as_they_are(query: str) -> None:
    assert _sql(query) == _sql(query, CONTEXT)


@pytest.mark.parametrize(
    ("query", "is_flat"),
    [
        pytest.param("select count() from events", True, id="no column"),
        pytest.param("select event from events where event > 'a' order by event", True, id="short"),
        pytest.param("select count() from events where properties.a = 'x'", True, id="long, once"),
        pytest.param(
            "select properties.a from events where properties.a = 'x'", False, id="long, repeated"
        ),
    ],
)
def test_one_server_reads_flat_unless_expressions_are_repeated(
    query: str, *, is_flat: bool
) -> None:
    assert (FLAT in _sql(query, CONTEXT)) == is_flat
    assert FLAT in _sql(query), "shards aggregate at any length"


def test_a_flat_form_over_the_limit_of_length_is_not_used() -> None:
    query = "select properties.a from events where properties.a = 'x'"
    nested = _sql(query, CONTEXT)
    limits = msgspec.structs.replace(CONTEXT.limits, max_sql_characters=len(nested))

    assert _sql(query, msgspec.structs.replace(CONTEXT, limits=limits)) == nested


CLUSTER = """
<clickhouse><remote_servers><two>
  <shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>
  <shard><replica><host>127.0.0.2</host><port>9000</port></replica></shard>
</two></remote_servers></clickhouse>
"""
NESTED = (
    "SELECT events.event AS event, count() AS `count()` FROM (SELECT event FROM events"
    " WHERE project_id = {project_id:Int64}) AS events GROUP BY events.event LIMIT 101"
)
PLANS = """
import sys
from chdb.session import Session

session = Session(f"{sys.argv[1]}/engine?config-file={sys.argv[1]}/cluster.xml")
session.query("CREATE DATABASE d")
session.query("CREATE TABLE d.events_local (project_id Int64, event String)"
              " ENGINE = MergeTree ORDER BY project_id")
session.query("CREATE TABLE d.events AS d.events_local"
              " ENGINE = Distributed(two, d, events_local, cityHash64(event))")
session.query("USE d")
for sql in sys.argv[2:]:
    print(session.query("EXPLAIN " + sql.replace("{project_id:Int64}", "1"), "TSVRaw"))
    print("---")
"""


def test_shards_aggregate_flat_reads(tmp_path: Path) -> None:
    """The engine's plan for a Distributed table; no shard is asked for it."""
    (tmp_path / "cluster.xml").write_text(CLUSTER)
    flat = _sql("select event, count() from events group by event")
    command = [sys.executable, "-c", PLANS, str(tmp_path), flat, NESTED]
    plans = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("---")

    assert "MergingAggregated" in plans[0]
    assert "MergingAggregated" not in plans[1]
