"""Everything of the engine that HogQL does not allow: functions, tables, columns.

The lists are the engine's own, so that a newer engine brings its news into the test.
"""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.functions import find_function
from hoglet.hogql.schema import TABLES
from hoglet.kit.errors import SourceError
from support.hogql_world import CONTEXT, HogqlWorld
from support.seeds import thinned

_LINES = (Path(__file__).parent / "hogql" / "refused_functions.txt").read_text().splitlines()
OUTSIDE = [name for line in _LINES if not line.startswith("#") for name in line.split()]
_OWN_SYNTAX = frozenset({"CAST", "cast", "exists", "columns", "trim", "interval", "extract"})
VIRTUAL = (
    "_part", "_part_index", "_part_uuid", "_part_offset", "_part_data_version", "_partition_id",
    "_part_starting_offset", "_partition_value", "_sample_factor", "_block_number", "_row_exists",
    "_block_offset", "_disk_name", "_table", "_database", "_file", "_path", "_size", "_time",
    "_etag", "_headers", "_shard_num", "_version", "_sign",
)  # fmt: skip
DISGUISES = (
    "project_id", "PROJECT_ID", "Project_Id", "`project_id`", '"project_id"', "events.project_id",
    "events.`project_id`", "e.events.project_id", "`events.project_id`", "`project_id `",
    "` project_id`", "`project_id\0`", "`project\u200b_id`", "`\uff50roject_id`",
    "`proj\u0435ct_id`", "any(project_id)",
    "`project_id`::text", "(project_id)", "[project_id]", "tuple(project_id).1",
    "arrayMap(x -> project_id, [1])", "arrayMap((x) -> (y -> project_id)(1), [1])",
    "sum(project_id) over ()", "if(1, project_id, 0)", "f'{project_id}'", "{'a': project_id}",
    "columns('project')", "columns(project_id)", "* exclude (project_id)", "person.project_id",
    "session.project_id", "group_0.project_id", "override.project_id", "pdi.project_id",
    "poe.project_id", "(select project_id from persons)", "extract(day from project_id)",
    "project_id.size0", "properties_json", "person_properties_json", "properties_json.`a`",
    "event_person_id.x", "`events`.*.project_id", "team_id", "{project_id:Int64}",
)  # fmt: skip


def refusal(query: str) -> str | None:
    """The code with which a query is refused; None when it is not."""
    try:
        compile_query(query, context=CONTEXT)
    except SourceError as error:
        return error.error_code
    return None


def engine_names(world: HogqlWorld, query: str) -> list[str]:
    """The first column of a query to the engine itself."""
    some = compile_query("SELECT 1", context=CONTEXT)
    return [str(row[0]) for row in world.raw(msgspec.structs.replace(some, sql=query))]


@pytest.mark.parametrize("name", OUTSIDE)
def test_functions_that_look_outside(name: str) -> None:
    assert find_function(name) is None
    assert find_function(f"{name}If") is None
    if name not in _OWN_SYNTAX:
        assert refusal(f"SELECT {name}('a', 1)") in {"unknown_function", "hogql_syntax_error"}
        assert refusal(f"SELECT arrayMap(x -> {name}(x), [1])") is not None
        assert refusal(f"SELECT event FROM events WHERE {name}('a')") is not None


@pytest.mark.parametrize("part", thinned(range(4), 4))
def test_every_function_of_the_engine_that_is_not_listed(
    hogql_world: HogqlWorld, part: int
) -> None:
    names = engine_names(hogql_world, "SELECT name FROM system.functions ORDER BY name")
    unlisted = [name for name in names if find_function(name) is None and name not in _OWN_SYNTAX]
    known = {"unknown_function", "hogql_syntax_error"}

    assert len(unlisted) > 500
    unlisted = unlisted[part::4]
    assert [name for name in unlisted if refusal(f"SELECT `{name}`(1)") is None] == []
    assert [name for name in unlisted if refusal(f"SELECT {name}(1)") not in known] == []


def test_every_table_function_of_the_engine(hogql_world: HogqlWorld) -> None:
    names = engine_names(hogql_world, "SELECT name FROM system.table_functions")
    refused = {"unknown_table", "hogql_syntax_error"}
    taken = [n for n in names if refusal(f"SELECT * FROM {n}('a')") not in refused]
    joined = [n for n in names if refusal(f"SELECT 1 FROM events CROSS JOIN `{n}`('a')") is None]

    assert len(names) > 20
    assert set(taken) <= {"numbers", "generate_series", "generateSeries"}
    assert joined == []


def test_every_table_of_the_engine(hogql_world: HogqlWorld) -> None:
    listed = "SELECT database || '.' || name FROM system.tables"
    names = engine_names(hogql_world, listed)
    codes: dict[str, Any] = {}
    for name in names:
        quoted = ".".join(f"`{part}`" for part in name.split(".", 1))
        for way in (name, quoted, f"`{name}`"):
            codes[way] = refusal(f"SELECT 1 FROM {way}")
        codes[f"IN {quoted}"] = refusal(f"SELECT 1 FROM events WHERE event IN {quoted}")

    assert len(names) > 50
    assert [way for way, code in codes.items() if code is None] == []


def test_every_column_that_is_stored_but_no_field(hogql_world: HogqlWorld) -> None:
    columns: list[str] = []
    for table in TABLES.values():
        listed = f"SELECT name FROM system.columns WHERE table = '{table.physical}'"
        stored = engine_names(hogql_world, listed)
        assert "project_id" in stored
        hidden = [*(set(stored) - set(table.fields)), *VIRTUAL]
        columns += [
            f"{table.name}.{name}"
            for name in hidden
            if refusal(f"SELECT `{name}` FROM {table.name}") != "hogql_query_error"
        ]

    assert columns == []


@pytest.mark.parametrize("name", DISGUISES)
def test_the_project_in_disguise(name: str) -> None:
    for query in (
        f"SELECT {name} FROM events",
        f"SELECT 1 FROM events WHERE {name} = 2",
        f"SELECT 1 FROM events GROUP BY {name}",
        f"SELECT 1 FROM events ORDER BY {name}",
        f"SELECT 1 FROM events e JOIN persons p ON e.person_id = p.id AND {name} = 2",
        f"SELECT count() OVER (PARTITION BY {name}) FROM events",
        f"SELECT 1 FROM events LIMIT 1 BY {name}",
    ):
        assert refusal(query) in {"hogql_query_error", "hogql_syntax_error"}, query
