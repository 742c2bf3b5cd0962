"""A form for the filters of a function: events, actions, properties, test accounts.

Keys that the form does not show are kept as they are.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.widgets import Text

type Json = dict[str, Any]

OPERATORS = {
    "exact": "is",
    "is_not": "is not",
    "icontains": "contains",
    "not_icontains": "does not contain",
    "regex": "matches regex",
    "not_regex": "does not match regex",
    "gt": ">",
    "gte": "≥",
    "lt": "<",
    "lte": "≤",
    "is_set": "is set",
    "is_not_set": "is not set",
}
WITHOUT_VALUE = frozenset({"is_set", "is_not_set"})
_NUMERIC = frozenset({"gt", "gte", "lt", "lte"})
_SUGGESTIONS = 500
_FIELD = "dense outlined options-dense"


class Suggestions:
    """Names and values seen in the project's data; loaded once for a page.

    Args:
        backend: the user's.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.events: list[str] = []
        self.properties: dict[str, list[str]] = {"event": [], "person": []}
        self.actions: dict[str, str] = {}

    async def load(self) -> None:
        """Load names; without access to some, those suggestions are empty."""
        self.events = await self._names("/event_definitions")
        for kind in self.properties:
            self.properties[kind] = await self._names("/property_definitions", type=kind)
        reply = await self._backend.get("/actions", limit=_SUGGESTIONS)
        for action in reply.body["results"] if reply.is_good else []:
            self.actions[str(action["id"])] = action["name"]

    async def values(self, kind: str, key: str) -> list[str]:
        """The most frequent values of a property."""
        if not key:
            return []
        path = "/persons/values" if kind == "person" else "/events/values"
        reply = await self._backend.get(path, key=key)
        entries = reply.body if isinstance(reply.body, list) else (reply.body or {}).get("results")
        return [str(each["name"]) for each in entries or []] if reply.is_good else []

    async def _names(self, path: str, **query: Any) -> list[str]:
        reply = await self._backend.get(path, limit=_SUGGESTIONS, **query)
        return [each["name"] for each in reply.body["results"]] if reply.is_good else []


class FiltersForm:
    """Edits filters; ``value()`` is what to save.

    Args:
        filters: the stored filters.
        suggestions: of the project.
        on_change: called after every change.
    """

    def __init__(
        self,
        filters: Json | None,
        suggestions: Suggestions,
        on_change: Callable[[], Awaitable[None] | None],
    ) -> None:
        self._filters: Json = {
            key: value for key, value in (filters or {}).items() if not key.startswith("bytecode")
        }
        self._suggestions = suggestions
        self._on_change = on_change
        self._box = ui.element("div").classes("pane")
        self._draw()

    def value(self) -> Json:
        """The filters as edited."""
        return self._filters

    def take_entries(self) -> Json:
        """Remove events and actions, and return them."""
        taken = {
            key: self._filters.pop(key) for key in ("events", "actions") if key in self._filters
        }
        self._draw()
        return taken

    def _entries(self, key: str) -> list[Json]:
        return self._filters.get(key) or []

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            entries = self._entries("events")
            actions = self._entries("actions")
            if not entries and not actions:
                ui.label("Every event. Add events or actions to choose some.").classes("muted")
            for entry in entries:
                self._event(entry)
            for entry in actions:
                self._action(entry)
            with ui.element("div").classes("toolbar"):
                ui.button("Add event", icon="add", on_click=self._add_event).props("outline")
                if self._suggestions.actions:
                    ui.button("Add action", icon="add", on_click=self._add_action).props("outline")
                ui.switch(
                    "Without test accounts",
                    value=bool(self._filters.get("filter_test_accounts")),
                    on_change=lambda event: self._set(
                        self._filters, "filter_test_accounts", event.value
                    ),
                )
            Text("h3", "And for all of them")
            self._conditions(self._filters, "condition")

    def _event(self, entry: Json) -> None:
        name = entry.get("id")
        options = list(dict.fromkeys([*filter(None, [name]), *self._suggestions.events]))
        with ui.element("div").classes("card"):
            with ui.element("div").classes("toolbar"):
                field = ui.select(
                    options,
                    value=name,
                    label="Event",
                    with_input=True,
                    new_value_mode="add-unique",
                    on_change=lambda event: self._set(
                        entry, "id", event.value, name=event.value or "All events"
                    ),
                )
                field.props(f"{_FIELD} clearable").classes("grow")
                self._remove("events", entry, f"Remove event {name or 'any'}")
            self._conditions(entry, "condition of this event")

    def _action(self, entry: Json) -> None:
        with ui.element("div").classes("card"), ui.element("div").classes("toolbar"):
            chosen = str(entry.get("id"))
            options = {chosen: entry.get("name") or chosen} | self._suggestions.actions
            field = ui.select(
                options,
                value=chosen,
                label="Action",
                on_change=lambda event: self._set(
                    entry, "id", event.value, name=options.get(event.value, "")
                ),
            )
            field.props(_FIELD).classes("grow")
            self._remove("actions", entry, f"Remove action {options[chosen]}")

    def _conditions(self, owner: Json, noun: str) -> None:
        properties: list[Json] = owner.get("properties") or []
        for condition in properties:
            self._condition(owner, condition)

        def add() -> None:
            owner["properties"] = [
                *properties,
                {"key": "", "value": [], "operator": "exact", "type": "event"},
            ]
            self._draw()

        button = ui.button(f"Add {noun}", icon="add", on_click=add).props("flat dense")
        button.style("align-self: flex-start")

    def _condition(self, owner: Json, condition: Json) -> None:
        kind = condition.get("type", "event")
        if kind not in self._suggestions.properties:
            with ui.element("div").classes("toolbar"):
                ui.label(f"{kind}: {condition.get('key')}").classes("grow font-mono")
                self._remove_condition(owner, condition)
            return
        with ui.element("div").classes("toolbar"):
            key = self._kind_and_key(condition, kind)
            operator = ui.select(
                OPERATORS | {str(condition.get("operator")): str(condition.get("operator"))}
                if condition.get("operator", "exact") not in OPERATORS
                else OPERATORS,
                value=condition.get("operator", "exact"),
                on_change=lambda event: self._set_operator(condition, event.value),
            )
            operator.props(f'{_FIELD} aria-label="Operator"').classes("w-40")
            load = self._value(condition, kind)
            remove = self._remove_condition(owner, condition)

        async def change_key(event: Any) -> None:
            # Without a redraw, which would take the focus from the next field.
            self._set(condition, "key", event.value or "")
            remove.props["aria-label"] = f"Remove condition {condition['key']}"
            if load is not None:
                await load()

        key.on_value_change(change_key)

    def _kind_and_key(self, condition: Json, kind: str) -> ui.select:
        of = ui.select(
            {"event": "event", "person": "person"},
            value=kind,
            on_change=lambda event: self._set(condition, "type", event.value, redraw=True),
        )
        of.props(f'{_FIELD} aria-label="Property of"').classes("w-28")
        key = str(condition.get("key") or "")
        names = list(dict.fromkeys([*filter(None, [key]), *self._suggestions.properties[kind]]))
        field = ui.select(
            names,
            value=key or None,
            label="Property",
            with_input=True,
            new_value_mode="add-unique",
        )
        return field.props(_FIELD).classes("grow")

    def _value(self, condition: Json, kind: str) -> Callable[[], Awaitable[None]] | None:
        """Render the field of the value; returns what loads its suggestions."""
        operator = condition.get("operator", "exact")
        if operator in WITHOUT_VALUE:
            return None
        stored = condition.get("value")
        values = stored if isinstance(stored, list) else [] if stored in (None, "") else [stored]
        values = [str(value) for value in values]
        if operator not in {"exact", "is_not"}:
            text = ui.input(
                "Value",
                value=values[0] if values else "",
                on_change=lambda event: self._set(
                    condition, "value", scalar(operator, event.value or "")
                ),
            )
            text.props("dense outlined debounce=300").classes("grow")

            async def complete() -> None:
                key = str(condition.get("key") or "")
                text.set_autocomplete(await self._suggestions.values(kind, key))

            text.on("focus", complete)
            return complete
        field = ui.select(
            values,
            value=values,
            label="Values",
            multiple=True,
            with_input=True,
            new_value_mode="add-unique",
            on_change=lambda event: self._set(condition, "value", list(event.value or [])),
        )
        field.props(f"{_FIELD} use-chips").classes("grow")

        async def suggest() -> None:
            known = await self._suggestions.values(kind, str(condition.get("key") or ""))
            field.set_options(list(dict.fromkeys([*field.value, *known])))

        field.on("focus", suggest)
        return suggest

    def _remove(self, key: str, entry: Json, label: str) -> None:
        def remove() -> None:
            self._filters[key] = [each for each in self._filters[key] if each is not entry]
            self._draw()
            self._on_change()

        button = ui.button(icon="delete", on_click=remove).props("flat dense")
        button.props["aria-label"] = label

    def _remove_condition(self, owner: Json, condition: Json) -> ui.button:
        def remove() -> None:
            owner["properties"] = [each for each in owner["properties"] if each is not condition]
            self._draw()
            self._on_change()

        button = ui.button(icon="delete", on_click=remove).props("flat dense")
        button.props["aria-label"] = f"Remove condition {condition.get('key') or ''}"
        return button

    def _add_event(self) -> None:
        entry = {"id": None, "name": "All events", "type": "events", "order": 0}
        self._filters["events"] = [*self._entries("events"), entry]
        self._draw()
        self._on_change()

    def _add_action(self) -> None:
        first, name = next(iter(self._suggestions.actions.items()))
        entry = {"id": first, "name": name, "type": "actions", "order": 0}
        self._filters["actions"] = [*self._entries("actions"), entry]
        self._draw()
        self._on_change()

    def _set_operator(self, condition: Json, operator: str) -> None:
        if operator in WITHOUT_VALUE:
            condition["value"] = operator
        self._set(condition, "operator", operator, redraw=True)

    def _set(
        self, owner: Json, key: str, value: Any, *, redraw: bool = False, **others: Any
    ) -> None:
        owner |= {key: value, **others}
        if redraw:
            self._draw()
        self._on_change()


def scalar(operator: str, text: str) -> Any:
    """Numbers for comparisons, where the text is one."""
    if operator not in _NUMERIC:
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
