"""Lists as CSV: detects whether a client requested it, and builds the response."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from hoglet.kit.json import dump_json


def wants_csv(request: Request) -> bool:
    """Whether the client requested CSV (``?format=csv`` or ``Accept: text/csv``)."""
    requested = request.query_params.get("format")
    if requested is not None:
        return requested.lower() == "csv"
    return request.headers.get("accept", "").split(",")[0].split(";")[0].strip() == "text/csv"


def csv_response(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Response:
    """Build a response with a header line and one line per row.

    Arrays and objects are written as JSON, null as an empty field.

    Args:
        columns: keys of the rows, in order.
        rows: e.g. ``{"id": 1, "properties": {"plan": "pro"}}``.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in columns])
    return Response(text.getvalue().encode(), media_type="text/csv; charset=utf-8")


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return dump_json(value).decode() if isinstance(value, list | dict) else value
