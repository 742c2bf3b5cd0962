"""The home page: how to send a first event, then an overview; both with starters."""

from urllib.parse import quote

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.overview import Overview
from hoglet.console.records.project import EventRecord, RequestBody
from hoglet.console.session import Sessions
from hoglet.console.snippets import first_event, snippets
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import (
    Link,
    Text,
    failed,
    heading,
    moment,
    notify,
    one_at_a_time,
    section,
)

_EVER = "1970-01-01T00:00:00Z"
_POLL_SECONDS = 1.0
_DAILY = (
    "SELECT toDate(timestamp) AS day, count(DISTINCT person_id) AS users\nFROM events\n"
    "WHERE timestamp > now() - INTERVAL 30 DAY\nGROUP BY day\nORDER BY day"
)


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}", title="Home · hoglet", response_timeout=BUILD_SECONDS)
    async def home(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            address = f"{request.url.scheme}://{request.url.netloc}"
            await _Home(backend, address).draw()

        return await signed_in_page(sessions, request, project_id, section="", build=build)


class _Home:
    def __init__(self, backend: Backend, address: str) -> None:
        self._backend = backend
        self._address = address
        self._project = f"/project/{backend.project_id}"

    async def draw(self) -> None:
        reply = await self._backend.call("GET", f"/api/projects/{self._backend.project_id}")
        if not reply.is_good:
            heading("Home")
            failed(reply)
            return
        heading(reply.body["name"])
        self._token: str = reply.body["api_token"]
        if await self._first_event() is None:
            self._first_run(self._token)
        else:
            await Overview(self._backend).draw()
            with section("Quick starts"):
                self._starters()
                with ui.element("div").classes("toolbar"):
                    ui.button("Send a test event", icon="play_arrow", on_click=self._send_event)
                    ui.label("Captures a signup of user-1 with the plan pro.").classes("muted")

    async def _first_event(self) -> EventRecord | None:
        reply = await self._backend.get("/events", limit=1, after=_EVER)
        return reply.body["results"][0] if reply.is_good and reply.body["results"] else None

    # --- before the first event ---

    def _first_run(self, token: str) -> None:
        with section("1. Send an event"):
            ui.label("The project token. It can send events but read nothing, so it may be public.")
            code_block(token, wraps=True)
            examples = snippets(self._address, token)
            with ui.tabs().props("align=left no-caps dense") as bar:
                for name in examples:
                    ui.tab(name)
            with ui.tab_panels(bar, value=next(iter(examples)), animated=False).classes("w-full"):
                for name, text in examples.items():
                    with ui.tab_panel(name).classes("px-0"):
                        code_block(text, wraps=True)
            with ui.element("div").classes("toolbar"):
                ui.button("Send a test event", icon="play_arrow", on_click=self._send_event)
                ui.label("Sends this event from the console.").classes("muted")
            with ui.element("div").classes("notice").props('role="status"') as waiting:
                ui.element("span").classes("waiting").style("margin-top: 6px")
                ui.label("Waiting for your first event …")
        with section("2. Use it"):
            self._starters()

        async def poll() -> None:
            event = await self._first_event()
            if event is not None:
                timer.deactivate()
                waiting.clear()
                with waiting:
                    self._arrived(event)

        timer = ui.timer(_POLL_SECONDS, poll)

    def _arrived(self, event: EventRecord) -> None:
        ui.icon("check_circle").classes("text-xl")
        with ui.row().classes("gap-2"):
            ui.label("Your first event arrived:")
            stamp = quote(event["timestamp"], safe="")
            Link(event["event"], f"{self._project}/events/{event['id']}/{stamp}")
            moment(event["timestamp"])

    def _starters(self) -> None:
        starters = (
            (
                "Send sign-ups to a webhook",
                "Posts every signup event to a URL you choose.",
                self._webhook,
            ),
            (
                "Drop bot traffic",
                "Drops events from known bots before they are stored.",
                self._bots,
            ),
            (
                "Daily active users",
                "An endpoint that returns the active users of each day.",
                self._users,
            ),
        )
        with ui.element("div").classes("grid"):
            for title, text, create in starters:
                with ui.element("div").classes("card"):
                    Text("h3", title)
                    ui.label(text).classes("muted")
                    button = ui.button("Create", on_click=one_at_a_time(create)).props("outline")
                    button.props["aria-label"] = f"Create: {title}"

    async def _send_event(self) -> None:
        event = first_event(self._token)
        reply = await self._backend.call("POST", "/capture/", body=event)
        notify(reply, "Event sent. It runs functions like any other event.")

    async def _webhook(self) -> bool:
        return await self._create_function(
            {
                "type": "destination",
                "template_id": "template-webhook",
                "name": "Send sign-ups to a webhook",
                "inputs": {"url": {"value": "https://example.com/webhook"}},
                "filters": {"events": [{"id": "signup", "type": "events"}]},
            },
            "Created. Set the URL, run a test, then enable it.",
        )

    async def _bots(self) -> bool:
        return await self._create_function(
            {
                "type": "transformation",
                "template_id": "template-bot-detection",
                "name": "Drop bot traffic",
            },
            "Created. Review it, then enable it.",
        )

    async def _create_function(self, body: RequestBody, done: str) -> bool:
        reply = await self._backend.send("POST", "/hog_functions", body | {"enabled": False})
        if notify(reply, done):
            ui.navigate.to(f"{self._project}/functions/{reply.body['id']}")
        return reply.is_good

    async def _users(self) -> bool:
        name = "daily_active_users"
        body = {"name": name, "query": {"kind": "HogQLQuery", "query": _DAILY}}
        existing = await self._backend.get(f"/endpoints/{name}")
        if not existing.is_good:
            existing = await self._backend.send("POST", "/endpoints", body)
        if notify(existing, "The endpoint can be called."):
            ui.navigate.to(f"{self._project}/endpoints/{name}")
        return existing.is_good
