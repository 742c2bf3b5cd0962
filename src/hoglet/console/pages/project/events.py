"""The events page: newest first, live, filtered; filters and columns are in the URL."""

from typing import Any
from urllib.parse import quote

import orjson
from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, Kind, Row, column
from hoglet.console.components.followed_list import FollowedList
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.navigation import person_href
from hoglet.console.records.project import EventRecord, StoredQuery
from hoglet.console.session import Sessions
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import (
    Link,
    empty,
    failed,
    heading,
    notify_failure,
    send_events_link,
    set_url_values,
    url_value,
)

_LINES = 200
_LIVE_SECONDS = 2.0
_RANGES = {
    "-1h": "last hour",
    "-24h": "24 hours",
    "-7d": "7 days",
    "-30d": "30 days",
    "all": "ever",
}
_EVER = "1970-01-01T00:00:00Z"
_FIELD = "dense outlined options-dense clearable"


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/events", title="Events · hoglet", response_timeout=BUILD_SECONDS
    )
    async def events(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await _EventList(backend).draw()

        return await signed_in_page(sessions, request, project_id, section="events", build=build)


class _EventList:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._events = FollowedList[EventRecord](lambda event: event["id"])
        self._requests = 0
        self._has_older = False
        self._is_empty = False

    async def draw(self) -> None:
        names = Suggestions(self._backend)
        await names.load()
        with ui.element("div").classes("toolbar"):
            heading("Events", "Captured events, newest first")
            ui.space()
            self._live = ui.switch("Live", value=True)
        with ui.element("div").classes("toolbar"):
            self._event = self._select("Event", names.events, "event")
            self._person = ui.input("Distinct id", value=url_value("distinct_id"))
            self._person.props("dense outlined clearable debounce=300 data-search")
            self._key = self._select("Property", names.properties["event"], "key")
            self._value = ui.input("is", value=url_value("value"))
            self._value.props("dense outlined clearable debounce=300").classes("w-40")
            after = url_value("after", "-7d")
            self._after = ui.select(_RANGES, value=after if after in _RANGES else "-7d")
            self._after.props('dense outlined options-dense aria-label="Period"')
            columns = [name for name in url_value("columns").split(",") if name]
            options = list(dict.fromkeys([*columns, *names.properties["event"]]))
            self._columns = ui.select(options, value=columns, label="Columns", multiple=True)
            self._columns.props("dense outlined options-dense use-chips").classes("grow")
        for field in (
            self._event,
            self._person,
            self._key,
            self._value,
            self._after,
            self._columns,
        ):
            field.on_value_change(self._refresh)
        self._box = ui.element("div").classes("pane")
        await self._show()
        poll_while_visible(_LIVE_SECONDS, self._follow)

    def _select(self, label: str, names: list[str], parameter: str) -> ui.select:
        given = url_value(parameter)
        options = list(dict.fromkeys([*filter(None, [given]), *names]))
        field = ui.select(options, value=given or None, label=label, with_input=True)
        return field.props(_FIELD).classes("w-44")

    def _query(self) -> StoredQuery:
        query: StoredQuery = {
            "event": self._event.value or None,
            "distinct_id": self._person.value or None,
            "after": _EVER if self._after.value == "all" else self._after.value,
            "limit": _LINES,
        }
        if self._key.value and self._value.value:
            condition = {"key": self._key.value, "value": self._value.value}
            condition |= {"operator": "exact", "type": "event"}
            query["properties"] = orjson.dumps([condition]).decode()
        return query

    async def _refresh(self) -> None:
        set_url_values(
            event=self._event.value,
            distinct_id=self._person.value,
            key=self._key.value,
            value=self._value.value,
            after=None if self._after.value == "-7d" else self._after.value,
            columns=",".join(self._columns.value),
        )
        self._events.clear()
        self._is_empty = False
        await self._show()

    async def _follow(self) -> None:
        if self._live.value:
            await self._show()

    async def _show(self) -> None:
        self._requests += 1
        request = self._requests
        reply = await self._backend.get("/events", **self._query())
        if request != self._requests:
            return  # the filters were changed in the meantime
        if not reply.is_good:
            self._events.clear()
            self._is_empty = False
            self._box.clear()
            with self._box:
                failed(reply)
            return
        had_rows = bool(self._events.items)
        has_changed = self._events.take_newest(reply.body["results"], reply.next_page)
        if not has_changed and (had_rows or self._is_empty):
            return
        if had_rows and self._events.items:
            self._draw_rows()
            return
        if not self._events.items:
            every = await self._backend.get("/events", limit=1, after=_EVER)
            if request != self._requests:
                return
            self._has_older = every.is_good and bool(every.body["results"])
        self._is_empty = not self._events.items
        self._box.clear()
        with self._box:
            if self._events.items:
                self._draw_table()
            else:
                self._nothing()

    async def _load_older(self) -> None:
        older = self._events.page()
        if older is None:
            return
        reply = await self._backend.get("/events", **older)
        if notify_failure(reply) and self._events.add_older(
            older, reply.body["results"], reply.next_page
        ):
            self._draw_rows()

    def _draw_rows(self) -> None:
        rows = [self._row(event) for event in self._events.items]
        self._table.set_rows(rows, has_more=self._events.older is not None)

    def _nothing(self) -> None:
        every = f"/project/{self._backend.project_id}/events?after=all"
        if any((self._event.value, self._person.value, self._key.value and self._value.value)):
            hint = f"No event matches these filters ({_RANGES[self._after.value]})."
            with empty("Nothing found", hint, "search_off"):
                Link("Remove the filters", every).classes("act")
        elif self._has_older:
            hint = f"The period is {_RANGES[self._after.value]}; there are older events."
            with empty("No events in this period", hint, "events"):
                Link("Show older events", every).classes("act")
        else:
            with empty("No events yet", "New events appear here as they arrive.", "events"):
                send_events_link(self._backend.project_id)

    def _draw_table(self) -> None:
        rows = [self._row(event) for event in self._events.items]
        columns = [
            column("event", "Event", "link"),
            column("person", "Person", "link"),
            column("time", "Time", "time"),
            *(
                column(f"p_{name}", name, _kind([row[f"p_{name}"] for row in rows]))
                for name in self._columns.value
            ),
        ]
        self._table = DataTable(
            "Events",
            columns,
            rows,
            follows=True,
            on_more=self._load_older,
            has_more=self._events.older is not None,
        ).mark("events")

    def _row(self, event: EventRecord) -> Row:
        project = f"/project/{self._backend.project_id}"
        person = event.get("person") or {}
        known = person.get("properties") or {}
        properties = {
            f"p_{name}": event["properties"].get(name, "") for name in self._columns.value
        }
        return properties | {
            "id": event["id"],
            "event": event["event"],
            "href": f"{project}/events/{event['id']}/{quote(event['timestamp'], safe='')}",
            "person": str(known.get("email") or known.get("name") or event["distinct_id"]),
            "person_href": person_href(
                self._backend.project_id, event["distinct_id"], person.get("uuid")
            ),
            "time": event["timestamp"],
        }


def _kind(values: list[Any]) -> Kind:
    """The kind of a column: right-aligned if all of its values are numbers."""
    given = [value for value in values if value not in (None, "")]
    is_numeric = all(isinstance(each, int | float) and not isinstance(each, bool) for each in given)
    return "number_value" if given and is_numeric else "value"
