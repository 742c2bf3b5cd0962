"""A table whose rows are replaced in place, so that focus and scroll position are kept."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from hoglet.console.api_client import Reply
from hoglet.console.components.data_table import DataTable, Row
from hoglet.console.widgets import failed


class LiveTable:
    """Rows, or an empty state.

    Args:
        label: names the table for screen readers.
        columns: created with ``column``; the first one names the row.
        nothing: renders the empty state.
        options: the options of ``DataTable``.
    """

    def __init__(
        self,
        label: str,
        columns: list[dict[str, str]],
        nothing: Callable[[], object],
        **options: Any,
    ) -> None:
        self._label = label
        self._columns = columns
        self._nothing = nothing
        self._options = options
        self._table: DataTable | None = None
        self._box = ui.element("div").classes("pane")

    @property
    def selected(self) -> list[Any]:
        """The keys of the selected rows."""
        return [] if self._table is None else self._table.selected

    def show(self, rows: list[Row]) -> None:
        """Replace the rows."""
        if rows and self._table is not None:
            self._table.set_rows(rows)
            return
        self._table = None
        self._box.clear()
        with self._box:
            if rows:
                self._table = DataTable(self._label, self._columns, rows, **self._options)
            else:
                self._nothing()

    def fail(self, reply: Reply) -> None:
        """Show an error instead of rows."""
        self._table = None
        self._box.clear()
        with self._box:
            failed(reply)
