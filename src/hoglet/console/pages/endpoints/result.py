"""The result of a run: a table or chart, its source, and downloads."""

import csv
import io
from collections.abc import Callable
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.components.data_table import DataTable, Kind, column
from hoglet.console.pages.endpoints.insight import insight_view
from hoglet.console.records.endpoints import ResultRecord
from hoglet.console.widgets import counted, exact_time

_PAGE = 100
_RIGHT = ("Int", "UInt", "Float", "Decimal")


def result_view(kind: str, body: ResultRecord, milliseconds: float) -> None:
    """Render a result.

    Args:
        kind: kind of the query.
        body: body of the response.
        milliseconds: duration of the request.
    """
    if body.get("columns") is None:
        insight_view(kind, body.get("results"))
    else:
        result_table(body)
    _summary(body, milliseconds)


def csv_text(columns: list[str], rows: list[list[Any]]) -> str:
    """Rows as CSV; null is empty, lists and objects are JSON."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([["" if cell is None else _text(cell) for cell in row] for row in rows])
    return out.getvalue()


def source_of(body: ResultRecord, zone: str) -> str:
    """Where the rows came from, with times in a time zone."""
    table = "the table" if body.get("endpoint_materialized") else ""
    built = exact_time(body.get("endpoint_materialized_at"), zone)
    table += f" of {built}" if table and built else ""
    if body.get("is_cached"):
        computed = exact_time(body.get("last_refresh"), zone)
        return f"from the cache, computed {computed}" + (f" from {table}" if table else "")
    return f"read from {table}" if table else "computed"


def _summary(body: ResultRecord, milliseconds: float) -> None:
    rows = body.get("results") or []
    notes = [counted(len(rows), "row")] if body.get("columns") is not None else []
    notes += [
        f"{milliseconds:.0f} ms",
        source_of(body, body.get("timezone") or "UTC"),
        f"version {body['endpoint_version']}",
    ]
    notes += [f"times in {body['timezone']}"] if body.get("timezone") else []
    notes += ["there are more rows"] if body.get("hasMore") else []
    with ui.row().classes("w-full items-center gap-x-4 gap-y-1"):
        with ui.column().classes("gap-0"):
            ui.label(" · ".join(notes)).classes("text-sm opacity-80").mark("summary")
            ui.label(f"execution {body['execution_id']}").classes("text-xs font-mono opacity-70")
        ui.space()
        downloads(body["name"], body.get("columns"), body.get("results"))


def downloads(name: str, columns: list[str] | None, rows: Any) -> None:
    """Buttons to download a result; only as JSON for insights, which have no columns."""

    def download(content: bytes | str, ending: str) -> None:
        data = content.encode() if isinstance(content, str) else content
        ui.download.content(data, f"{name}.{ending}")

    def button(label: str, make: Callable[[], bytes | str], ending: str) -> None:
        download_button = ui.button(
            label, icon="download", on_click=lambda: download(make(), ending)
        )
        download_button.props("flat dense")

    if columns is not None:
        button("CSV", lambda: csv_text(columns, rows or []), "csv")
        button("Parquet", lambda: parquet_bytes(columns, rows or []), "parquet")
    button("JSON", lambda: orjson.dumps(rows, option=orjson.OPT_INDENT_2), "json")


def parquet_bytes(columns: list[str], rows: list[list[Any]]) -> bytes:
    """Rows as Parquet; a column of mixed types becomes text, as in CSV."""
    import pyarrow as pa
    from pyarrow import parquet

    def array(index: int) -> pa.Array:
        values = [row[index] for row in rows]
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return pa.array([None if value is None else _text(value) for value in values])

    names = [
        f"{name}_{columns[:index].count(name) + 1}" if name in columns[:index] else name
        for index, name in enumerate(columns)
    ]
    out = io.BytesIO()
    parquet.write_table(pa.table([array(index) for index in range(len(columns))], names), out)
    return out.getvalue()


def result_table(body: ResultRecord) -> None:
    """Rows under typed columns. Columns are keyed by position: two may have the same name."""
    rows = body.get("results") or []
    table_rows = [
        {"row": number, **{f"c{index}": _cell(value) for index, value in enumerate(row)}}
        for number, row in enumerate(rows)
    ]
    types = [kind for _, kind in body.get("types") or []]
    columns = [
        column(f"c{index}", name, _kind(types[index] if index < len(types) else ""))
        for index, name in enumerate(body["columns"] or ())
    ]
    DataTable("Result", columns, table_rows, key="row", page_size=_PAGE).mark("result")
    if not rows:
        ui.label("The query returned no rows.").classes("muted")


def _kind(column_type: str) -> Kind:
    inner = column_type.removeprefix("Nullable(").removesuffix(")")
    return "number_value" if inner.startswith(_RIGHT) else "value"


def _cell(value: Any) -> Any:
    """Numbers stay numbers, so that they sort numerically; large integers become strings."""
    if value is None or isinstance(value, str):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) < 2**53 else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
