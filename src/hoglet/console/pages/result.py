"""The result of a run: a table or chart, its source, and downloads."""

import csv
import io
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.layout import short_time
from hoglet.console.pages.insight import insight_view

type Json = dict[str, Any]

_PAGE = 25
_RIGHT = ("Int", "UInt", "Float", "Decimal")


def result_view(kind: str, body: Json, milliseconds: float) -> None:
    """Render a result.

    Args:
        kind: kind of the query.
        body: body of the response.
        milliseconds: duration of the request.
    """
    if body.get("columns") is None:
        insight_view(kind, body.get("results"))
    else:
        _table(body)
    _summary(body, milliseconds)


def csv_text(columns: list[str], rows: list[list[Any]]) -> str:
    """Rows as CSV; null is empty, lists and objects are JSON."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([["" if cell is None else _text(cell) for cell in row] for row in rows])
    return out.getvalue()


def source_of(body: Json) -> str:
    """Where the rows came from."""
    table = "the table" if body.get("endpoint_materialized") else ""
    built = short_time(body.get("endpoint_materialized_at"))
    table += f" of {built} UTC" if table and built else ""
    if body.get("is_cached"):
        computed = short_time(body.get("last_refresh"))
        return f"from the cache, computed {computed} UTC" + (f" from {table}" if table else "")
    return f"read from {table}" if table else "computed"


def _summary(body: Json, milliseconds: float) -> None:
    rows = body.get("results") or []
    notes = [f"{len(rows)} rows"] if body.get("columns") is not None else []
    notes += [f"{milliseconds:.0f} ms", source_of(body), f"version {body['endpoint_version']}"]
    notes += [f"times in {body['timezone']}"] if body.get("timezone") else []
    notes += ["there are more rows"] if body.get("hasMore") else []
    with ui.row().classes("w-full items-center gap-x-4 gap-y-1"):
        with ui.column().classes("gap-0"):
            ui.label(" · ".join(notes)).classes("text-sm opacity-80").mark("summary")
            ui.label(f"execution {body['execution_id']}").classes("text-xs font-mono opacity-70")
        ui.space()
        _downloads(body)


def _downloads(body: Json) -> None:
    name, columns, rows = body["name"], body.get("columns"), body.get("results")

    def as_json() -> None:
        ui.download.content(orjson.dumps(rows, option=orjson.OPT_INDENT_2), f"{name}.json")

    if columns is not None:
        ui.button(
            "CSV",
            icon="download",
            on_click=lambda: ui.download.content(csv_text(columns, rows or []), f"{name}.csv"),
        ).props("flat dense no-caps")
    ui.button("JSON", icon="download", on_click=as_json).props("flat dense no-caps")


def _table(body: Json) -> None:
    """Columns are keyed by position: two may have the same name."""
    rows = body.get("results") or []
    shown = [
        {"row": number, **{f"c{index}": _cell(value) for index, value in enumerate(row)}}
        for number, row in enumerate(rows)
    ]
    types = [kind for _, kind in body.get("types") or []]
    columns = [
        _column(index, name, types[index] if index < len(types) else "")
        for index, name in enumerate(body["columns"])
    ]
    table = ui.table(rows=shown, row_key="row", pagination=_PAGE, columns=columns)
    table.classes("w-full").props("dense flat bordered").mark("result")
    table.props["no-data-label"] = "The query returned no rows."
    table.add_slot("body-cell", _CELL)


# Null is styled differently from the text "null".
_CELL = """<q-td :props="props">
<span v-if="props.value === null" class="italic opacity-50">null</span>
<span v-else class="inline-block truncate max-w-md align-bottom" :title="props.value">{{
    props.value }}</span></q-td>"""


def _column(index: int, name: str, kind: str) -> Json:
    inner = kind.removeprefix("Nullable(").removesuffix(")")
    align = "right" if inner.startswith(_RIGHT) else "left"
    field = f"c{index}"
    return {"name": field, "label": name, "field": field, "align": align, "sortable": True}


def _cell(value: Any) -> Any:
    """Numbers stay numbers, so that they sort numerically; large integers become strings."""
    if value is None or isinstance(value, str):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) < 2**53 else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
