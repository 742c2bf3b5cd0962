"""Events queries: planned in a worker, run as HogQL, with rows assembled here.

Source: docs/spec/data-and-queries.md#17-eventsquery.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from hoglet.access.principals import Project
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.response import RunResult
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.endpoints.worker.query_errors import as_query_error
from hoglet.events.elements import read_chain
from hoglet.hogql.errors import TABLE_DENIED, in_fragment
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import HogletError, SourceError, Unreadable
from hoglet.kit.json import dump_json
from hoglet.queries.kinds import check_node
from hoglet.queries.worker.messages import FILTER_LISTS, INVALID_KEY, EventsPlan, PlanRequest
from hoglet.queries.worker.special_columns import EVENT_COLUMNS
from hoglet.warehouse import JsonParts

# The path of an operation, so that the server does not import what only workers run.
_PLAN = "hoglet.queries.worker.events:plan_events"

_ROWS_AT_ONCE = 2_000
"""More rows are assembled outside of the event loop."""
_NOBODY = "00000000-0000-0000-0000-000000000000"


async def plan_events(
    compiler: QueryCompiler, project: Project, node: QueryNode, system_tables: Sequence[str] = ()
) -> EventsPlan:
    """Plan a validated events query; ``system_tables`` are those that the caller may read.

    Raises:
        Unreadable: a key of the node; attr is its path.
        QueryError: invalid HogQL.
    """
    context = compiler.stamped(await compiler.context(project, system_tables=system_tables))
    request = PlanRequest(node, context, project.person_display_name_properties)
    try:
        plan = await compiler.call(_PLAN, request, EventsPlan)
    except SourceError as error:
        if error.error_code == INVALID_KEY:
            raise Unreadable(error.message, attr=f"query__{error.attr}") from error
        raise as_query_error(error) from error
    return msgspec.structs.replace(plan, query=check_node(plan.query, "query"))


def as_events_error(error: HogletError, plan: EventsPlan, node: QueryNode) -> HogletError:
    """An error of the HogQL query as one of the events query, without generated text."""
    source = error if isinstance(error, SourceError) else error.__cause__
    if not isinstance(source, SourceError) or error.error_code == TABLE_DENIED:
        return error
    problem = in_fragment(source, plan.fragments)
    if problem is not None:
        return as_query_error(problem)
    public = as_query_error(source)
    if source.attr is None:
        public.detail = public.detail.removeprefix(f"{source.line}:{source.column}: ")
    else:
        public.attr = _own_path(source.attr, node)
    return public


def _own_path(path: str, node: QueryNode) -> str:
    """Translate ``filters__properties__0__values__1__key`` to ``query__properties__1__key``."""
    _, _, rest = path.partition("filters__")
    head, _, inner = rest.partition("__")
    if head != "properties":
        return f"query__{rest or path}"
    number, _, inner = inner.partition("__")
    name = [key for key in FILTER_LISTS if node.get(key)][int(number)]
    inner = inner.removeprefix("values__") if isinstance(node[name], list) else inner
    return f"query__{name}__{inner}"


async def as_events(answer: RunResult, plan: EventsPlan, node: QueryNode) -> RunResult:
    """Convert the response of the HogQL query to that of the events query."""
    if answer.result.row_count > _ROWS_AT_ONCE:
        result, cursor = await asyncio.to_thread(_assembled, answer, plan)
    else:
        result, cursor = _assembled(answer, plan)
    target = replace(answer.target, query=node)
    return replace(answer, target=target, result=result, next_cursor=cursor)


def _assembled(answer: RunResult, plan: EventsPlan) -> tuple[Result, str | None]:
    result = answer.result
    titles = [title for title, _, _ in plan.columns]
    types = [[title, kind] for title, kind in zip(titles, _types(result, plan), strict=True)]
    result = replace(result, columns=titles, types=types)
    if plan.cursor is None and all(kind == "value" for _, kind, _ in plan.columns):
        return result, None
    rows = orjson.loads(result.rows_json)
    cursor = f"{rows[-1][-2]}|{rows[-1][-1]}" if plan.cursor and result.has_more else None
    assemble = _Assembler(plan, answer.target.project_id)
    encoded = dump_json([assemble.row(row) for row in rows])
    return replace(result, parts=JsonParts((encoded,))), cursor


def _types(result: Result, plan: EventsPlan) -> list[str]:
    """An engine type for every column; objects are named tuples."""
    types: list[str] = []
    at = 0
    for _, kind, width in plan.columns:
        parts = [each[1] for each in result.types[at : at + width]]
        types.append(parts[0] if kind == "value" else f"Tuple({', '.join(parts)})")
        at += width
    return types


class _Assembler:
    """Assembles rows from the columns of the query."""

    def __init__(self, plan: EventsPlan, project_id: int) -> None:
        self._project_id = project_id
        makers: dict[str, Callable[[Sequence[Any]], Any]] = {
            "value": lambda cells: cells[0],
            "*": self._event,
            "person": _person,
            "person_display_name": _display_name,
        }
        self._columns: list[tuple[slice, Callable[[Sequence[Any]], Any]]] = []
        at = 0
        for _, kind, width in plan.columns:
            self._columns.append((slice(at, at + width), makers[kind]))
            at += width

    def row(self, cells: Sequence[Any]) -> list[Any]:
        return [make(cells[index]) for index, make in self._columns]

    def _event(self, cells: Sequence[Any]) -> dict[str, Any]:
        event: dict[str, Any] = dict(zip(EVENT_COLUMNS, cells, strict=True))
        event["properties"] = _object(event["properties"])
        event["team_id"] = self._project_id
        if event["elements_chain"]:
            event["elements"] = read_chain(event["elements_chain"])
        return event


def _person(cells: Sequence[Any]) -> dict[str, Any]:
    distinct_id, uuid, created_at, properties = cells
    if not _is_known(uuid):
        return {"distinct_id": distinct_id}
    return {
        "uuid": uuid,
        "created_at": created_at,
        "properties": _object(properties),
        "distinct_id": distinct_id,
    }


def _display_name(cells: Sequence[Any]) -> dict[str, Any]:
    name, uuid, distinct_id = cells
    person_id = uuid if _is_known(uuid) else None
    return {"display_name": name, "id": person_id, "distinct_id": distinct_id}


def _is_known(uuid: Any) -> bool:
    """Whether the event has a person; without one, the join yields an empty id."""
    return uuid not in {None, _NOBODY}


def _object(text: Any) -> Any:
    """Properties as an object; they are stored as JSON text."""
    if not isinstance(text, str):
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
