"""A table of rows with typed cells; sorted in the browser."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from nicegui import ui
from nicegui.events import GenericEventArguments

type Kind = Literal[
    "text",
    "link",
    "time",
    "number",
    "badge",
    "mono",
    "spark",
    "toggle",
    "button",
    "value",
    "number_value",
    "clipped",
    "tree",
]
type Row = dict[str, Any]
type Handler = Callable[..., Awaitable[None] | None]


def column(key: str, label: str, kind: Kind = "text") -> dict[str, str]:
    """A column.

    The kind determines how a cell shows ``row[key]``, and what else it reads:

    - ``link``: links to ``row["<key>_href"]``, or ``row["href"]``; ``<key>_note`` is a second line.
    - ``time``: an ISO time, shown relative to now, exact on hover.
    - ``mono``: as code; ``<key>_href`` and ``<key>_link`` are a link after it.
    - ``clipped``: one line of a long text, all of it on hover.
    - ``badge``: ``<key>_tone`` is ``ok``, ``warn``, ``danger``, ``busy`` or absent.
    - ``spark``: pairs ``[[succeeded, failed], ...]`` as bars; ``<key>_note`` describes them.
    - ``value`` and ``number_value``: unchanged; null looks different from the text ``null``.
    - ``tree``: objects and lists as a tree that opens and closes, other values as text.
    - ``toggle`` and ``button``: ``on_action`` is called with row key, column and value.
    """
    return {"key": key, "label": label, "kind": kind}


class DataTable(ui.element, component="data_table.js"):
    """Rows under typed columns.

    Args:
        label: names the table for screen readers.
        columns: created with ``column``; the first one names the row.
        rows: one dictionary per row.
        key: key of a row's unique value.
        page_size: rows shown before "Show more".
        selectable: a checkbox for each row; ``selected`` has the keys.
        follows: rows arrive on their own; while the page is scrolled down, new rows are
            counted instead of shown.
        on_row: called with the key of a clicked row.
        on_select: called with the keys of the selected rows.
        on_action: called with ``(key, column, value)``.
        on_more: called by "Show more" below the last row, while ``has_more`` is true.
        has_more: there are rows after the given ones.
    """

    def __init__(
        self,
        label: str,
        columns: list[dict[str, str]],
        rows: list[Row],
        *,
        key: str = "id",
        page_size: int = 50,
        selectable: bool = False,
        follows: bool = False,
        on_row: Handler | None = None,
        on_select: Handler | None = None,
        on_action: Handler | None = None,
        on_more: Handler | None = None,
        has_more: bool = False,
    ) -> None:
        super().__init__()
        self.selected: list[Any] = []
        self._props |= {
            "label": label,
            "columns": columns,
            "rows": rows,
            "row-key": key,
            "page-size": page_size,
            "selectable": selectable,
            "follows": follows,
            "clickable": on_row is not None,
            "has-more": has_more,
        }
        self.classes("w-full")
        self._on_select = on_select
        if selectable:
            self.on("selected", self._select)
        if on_row is not None:
            self.on("row", lambda event: on_row(event.args))
        if on_action is not None:
            self.on("action", lambda event: on_action(*_action(event)))
        if on_more is not None:
            self.on("more", on_more)

    def _select(self, event: GenericEventArguments) -> Awaitable[None] | None:
        self.selected = list(event.args)
        return self._on_select(self.selected) if self._on_select else None

    def set_rows(self, rows: list[Row], *, has_more: bool = False) -> None:
        """Replace the rows."""
        self._props["rows"] = rows
        self._props["has-more"] = has_more
        self.update()


def _action(event: GenericEventArguments) -> tuple[Any, str, Any]:
    return event.args["key"], event.args["column"], event.args["value"]
