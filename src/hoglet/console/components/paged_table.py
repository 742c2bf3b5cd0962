"""A table of a list of the API; "Show more" loads its further pages."""

from collections.abc import Callable
from typing import Any

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, Row
from hoglet.console.widgets import notify_failure

_PAGE_SIZE = 100


class PagedTable:
    """Draws the first page.

    Args:
        backend: the user's.
        path: of the list, ``/persons``.
        first: the response with the first page.
        label: names the table for screen readers.
        columns: from ``column``; the first one names the row.
        row_of: makes a row of an item.
    """

    def __init__(
        self,
        backend: Backend,
        path: str,
        first: Reply,
        *,
        label: str,
        columns: list[dict[str, str]],
        row_of: Callable[[Any], Row],
    ) -> None:
        self._backend = backend
        self._path = path
        self._row_of = row_of
        self._rows = [row_of(item) for item in first.body["results"]]
        self._next = first.next_page
        self.table = DataTable(
            label,
            columns,
            self._rows,
            page_size=_PAGE_SIZE,
            on_more=self._load,
            has_more=self._next is not None,
        )

    async def _load(self) -> None:
        requested, self._next = self._next, None  # a second click waits for the first
        if requested is None:
            return
        reply = await self._backend.get(self._path, **requested)
        if not notify_failure(reply):
            self._next = requested
            return
        self._next = reply.next_page
        self._rows = [*self._rows, *map(self._row_of, reply.body["results"])]
        self.table.set_rows(self._rows, has_more=self._next is not None)
