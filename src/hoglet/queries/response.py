"""Bodies of the query API.

Source: docs/spec/data-and-queries.md#14-asynchronous-runs,
docs/spec/data-and-queries.md#15-hogqlquery and docs/spec/data-and-queries.md#16-insight-kinds.
"""

from typing import Any

import orjson

from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.response import BODY_START, RunResult, stamp
from hoglet.kit.json import dump_json
from hoglet.queries.kinds import EVENTS
from hoglet.queries.tables import QueryRunRow

type Json = dict[str, Any]

_EVENTS_KEYS = ("columns", "hasMore", "limit", "offset", "hogql", "error", "modifiers", "timings")
_FUNNELS = "FunnelsQuery"
_BREAKDOWNS_CUT = frozenset({"TrendsQuery", "StickinessQuery"})
_MAX_FORMATTED_ROWS = 200


def body_of(answer: RunResult, *, extra: Json | None = None) -> bytes:
    """The 200 body of a run; ``extra`` replaces keys (``explain``, ``formatted_results``)."""
    return b"".join((BODY_START, *answer.result.parts.pieces(), after_rows(answer, extra or {})))


def after_rows(answer: RunResult, extra: Json) -> bytes:
    """The end of the 200 body, from the comma after its rows."""
    return b"," + _rest(answer, extra)[1:]


def failed_body(query: Json, error: str, timezone: str) -> Json:
    """The 200 body of an explained query that is invalid."""
    return {
        "results": [],
        "columns": [],
        "types": [],
        "hasMore": False,
        "limit": None,
        "offset": None,
        "query": query["query"],
        "hogql": None,
        "clickhouse": None,
        "error": error,
        "explain": None,
        "metadata": None,
        "modifiers": query.get("modifiers") or {},
        "timings": [],
        "query_status": None,
        "resolved_date_range": None,
        "is_cached": False,
        "cache_key": None,
        "cache_target_age": None,
        "last_refresh": None,
        "next_allowed_client_refresh": None,
        "timezone": timezone,
        "calculation_trigger": None,
        "query_metadata": None,
    }


def query_status(row: QueryRunRow) -> Json:
    """The state of a background run, with its full response once it is done."""
    failure = row.failure
    return {
        "id": row.query_id,
        "query_async": True,
        "team_id": row.project_id,
        "insight_id": None,
        "dashboard_id": None,
        "complete": row.ended_at is not None,
        "error": failure is not None,
        "error_message": None if failure is None else failure["message"],
        "error_code": None if failure is None else failure["code"],
        "results": None if row.answer is None else orjson.loads(row.answer),
        "start_time": stamp(row.started_at),
        "pickup_time": None if row.picked_up_at is None else stamp(row.picked_up_at),
        "end_time": None if row.ended_at is None else stamp(row.ended_at),
        "expiration_time": stamp(row.expires_at),
        "task_id": str(row.execution_id),
        "query_progress": None,
        "labels": None,
        "cache_key": row.cache_key,
    }


def formatted(answer: RunResult) -> str:
    """The rows as a plain text table, for language models."""
    rows = orjson.loads(answer.result.rows_json)
    if not answer.result.is_insight:
        return table(answer.result.columns, rows)
    if isinstance(rows, dict):
        rows = [rows]
    items = [row if isinstance(row, dict) else {"value": row} for row in _flat(rows)]
    columns = list(dict.fromkeys(key for item in items for key in item if _is_plain(item[key])))
    return table(columns, [[item.get(column) for column in columns] for item in items])


def table(columns: list[str], rows: list[list[Any]]) -> str:
    r"""Columns and rows with ``|`` between cells, one row per line.

    Example:
        >>> table(["event", "n"], [["a", 1]])
        'event|n\na|1'
    """
    lines = ["|".join(columns)]
    lines += ["|".join(map(_cell, row)) for row in rows[:_MAX_FORMATTED_ROWS]]
    if len(rows) > _MAX_FORMATTED_ROWS:
        lines.append(f"… {len(rows) - _MAX_FORMATTED_ROWS} more rows")
    return "\n".join(lines)


def _flat(rows: list[Any]) -> list[Any]:
    return [item for row in rows for item in (row if isinstance(row, list) else [row])]


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict)


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text.replace("\n", " ").replace("|", "\\|")


def _rest(answer: RunResult, extra: Json) -> bytes:
    result = answer.result
    if answer.target.query["kind"] == EVENTS:
        rest = _events(answer)
    else:
        rest = _insight(answer) if result.is_insight else _hogql(answer)
    return dump_json(rest | _cache_keys(answer) | extra)


def _events(answer: RunResult) -> Json:
    """The keys of an events query: ``types`` is a plain list, ``nextCursor`` a time bound."""
    hogql = _hogql(answer)
    keys = {key: hogql[key] for key in _EVENTS_KEYS}
    types = [kind for _, kind in answer.result.types]
    return keys | {"types": types, "nextCursor": answer.next_cursor, "query_status": None}


def _hogql(answer: RunResult) -> Json:
    result = answer.result
    return {
        "columns": result.columns,
        "types": result.types,
        "hasMore": result.has_more,
        "limit": result.limit,
        "offset": result.offset + result.saved_offset,
        "query": answer.target.query.get("query"),
        "hogql": result.debug.get("hogql"),
        "clickhouse": None,
        "error": None,
        "explain": None,
        "metadata": None,
        **_debug(answer),
    }


def _insight(answer: RunResult) -> Json:
    result, kind = answer.result, answer.target.query["kind"]
    body: Json = {"hogql": result.debug.get("hogql"), "error": None, **_debug(answer)}
    if kind in _BREAKDOWNS_CUT:
        body["hasMore"] = result.has_more
    if kind == _FUNNELS:
        body["isUdf"] = False
    return body


def _debug(answer: RunResult) -> Json:
    result = answer.result
    return {
        "modifiers": answer.target.query.get("modifiers") or {},
        "timings": [{"k": ".", "t": round(result.engine_seconds, 6)}],
        "query_status": None,
        "resolved_date_range": result.debug.get("resolved_date_range"),
    }


def _cache_keys(answer: RunResult) -> Json:
    result: Result = answer.result
    return {
        "is_cached": answer.is_cached,
        "cache_key": result.debug.get("cache_key"),
        "cache_target_age": stamp(result.target_age),
        "last_refresh": stamp(result.computed_at),
        "next_allowed_client_refresh": stamp(result.computed_at),
        "timezone": answer.timezone,
        "calculation_trigger": None,
        "query_metadata": None,
    }
