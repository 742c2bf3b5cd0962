"""The tab of activity: who changed what in the project, with the values before and after."""

import re
from typing import Any
from urllib.parse import quote

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.pages.functions.history import change_block
from hoglet.console.records.project import ActivityRecord
from hoglet.console.widgets import (
    Text,
    empty,
    failed,
    moment,
    set_url_values,
    until_closed,
    url_value,
)

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_NOUNS = {"HogFunction": "function", "Team": "project"}

_PAGE = 100
_SCOPES = {
    "": "Everything",
    "HogFunction": "Functions",
    "Endpoint": "Endpoints",
    "Cohort": "Cohorts",
    "Action": "Actions",
    "Integration": "Integrations",
    "EventDefinition": "Events seen",
    "PropertyDefinition": "Properties seen",
    "TenantSigningKey": "Signing keys",
}


class ActivityList:
    """The tab: the newest changes, older ones on demand.

    Args:
        backend: API client of the signed-in user.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._entries: dict[str, ActivityRecord] = {}

    async def draw(self) -> None:
        """Render it."""
        chosen = url_value("scope")
        self._scope = ui.select(_SCOPES, value=chosen if chosen in _SCOPES else "")
        self._scope.props('dense outlined options-dense aria-label="What was changed"')
        self._scope.on_value_change(self._filter).classes("w-44")
        self._box = ui.element("div").classes("pane")
        self._older = ui.button("Show older", on_click=self._load).props("outline")
        self._older.style("align-self: flex-start")
        await self._load()

    async def _filter(self) -> None:
        set_url_values(scope=self._scope.value)
        self._entries = {}
        await self._load()

    async def _load(self) -> None:
        scope = self._scope.value or None
        reply = await self._backend.get(
            "/activity_log", limit=_PAGE, offset=len(self._entries), scope=scope
        )
        self._box.clear()
        with self._box:
            if not reply.is_good:
                failed(reply)
                return
            self._entries |= {each["id"]: each for each in reply.body["results"]}
            self._older.set_visibility(bool(reply.body["next"]))
            if self._entries:
                self._table()
            else:
                hint = (
                    "Changes to functions, endpoints, keys and everything else are recorded here."
                )
                empty("No changes yet", hint, "history")

    def _table(self) -> None:
        columns = [
            column("what", "What", "link"),
            column("activity", "Change"),
            column("fields", "Fields"),
            column("who", "Who"),
            column("time", "Time", "time"),
            column("show", "", "button"),
        ]
        rows = [self._row(entry) for entry in self._entries.values()]
        DataTable("Activity", columns, rows, page_size=_PAGE, on_action=self._open)

    def _row(self, entry: ActivityRecord) -> Row:
        changes = entry["detail"].get("changes") or []
        noun = _noun(entry["scope"])
        return {
            "id": entry["id"],
            "what": str(entry["detail"].get("name") or noun),
            "what_note": noun,
            "href": _href(self._backend.project_id, entry),
            "activity": entry["activity"],
            "fields": ", ".join(dict.fromkeys(str(each["field"]) for each in changes)),
            "who": who(entry),
            "time": entry["created_at"],
            "show": "Show" if changes else None,
        }

    async def _open(self, entry_id: str, _act: str, _value: Any) -> None:
        entry = self._entries[entry_id]
        name = str(entry["detail"].get("name") or _noun(entry["scope"]))
        with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-3xl"):
            dialog.props["aria-label"] = "Change"
            Text("h2", f"{name}: {entry['activity']}")
            with ui.row().classes("gap-2 muted"):
                Text("span", who(entry))
                moment(entry["created_at"])
            for change in entry["detail"].get("changes") or ():
                change_block(change)
            ui.button("Close", on_click=dialog.close).props("flat autofocus").style(
                "align-self: flex-end"
            )
        await until_closed(dialog)


def who(entry: ActivityRecord) -> str:
    """The name of the user who made a change; hoglet if there is no user."""
    user = entry["user"] or {}
    return user.get("email") or user.get("first_name") or "hoglet"


def _noun(scope: str) -> str:
    """The scope in words.

    Example:
        >>> [_noun(each) for each in ("HogFunction", "PersonalAPIKey")]
        ['function', 'personal API key']
    """
    if scope in _NOUNS:
        return _NOUNS[scope]
    words: list[str] = _WORDS.findall(scope)
    return " ".join(word if word.isupper() else word.lower() for word in words)


def _href(project_id: str, entry: ActivityRecord) -> str | None:
    """The URL of the page that shows the changed object."""
    name, item = str(entry["detail"].get("name") or ""), quote(str(entry["item_id"]), safe="")
    places = {
        "HogFunction": f"functions/{item}",
        "Endpoint": f"endpoints/{quote(name, safe='')}",
        "Cohort": f"cohorts?open={item}",
        "Action": f"actions?open={item}",
        "Integration": f"integrations?open={item}",
        "EventDefinition": "data",
        "PropertyDefinition": "data?tab=Event+properties",
        "TenantSigningKey": "settings?tab=Tenant+tokens",
    }
    page = places.get(entry["scope"])
    is_gone = entry["activity"] == "deleted"
    return None if page is None or is_gone else f"/project/{project_id}/{page}"
