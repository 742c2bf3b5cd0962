"""A form for the filters of a function: events, actions, properties, test accounts.

Keys that the form does not show are preserved.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from hoglet.console.conditions_form import ConditionsForm
from hoglet.console.records.functions import EditedFilters, FilterEntry
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import Text

_FIELD = "dense outlined options-dense"


class FiltersForm:
    """Edits filters; ``value()`` is what to save.

    Args:
        filters: the stored filters.
        suggestions: the suggestions of the project.
        on_change: called after every change.
    """

    def __init__(
        self,
        filters: EditedFilters | None,
        suggestions: Suggestions,
        on_change: Callable[[], Awaitable[None] | None],
    ) -> None:
        self._filters: EditedFilters = {
            key: value for key, value in (filters or {}).items() if not key.startswith("bytecode")
        }
        self._suggestions = suggestions
        self._on_change = on_change
        self._box = ui.element("div").classes("pane")
        self._draw()

    def value(self) -> EditedFilters:
        """The filters as edited."""
        return self._filters

    def take_entries(self) -> EditedFilters:
        """Remove and return the events and actions."""
        taken = {
            key: self._filters.pop(key) for key in ("events", "actions") if key in self._filters
        }
        self._draw()
        return taken

    def _entries(self, key: str) -> list[FilterEntry]:
        return self._filters.get(key) or []

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            entries = self._entries("events")
            actions = self._entries("actions")
            if not entries and not actions:
                ui.label("Runs on every event. Add events or actions to narrow it down.").classes(
                    "muted"
                )
            for entry in entries:
                self._event(entry)
            for entry in actions:
                self._action(entry)
            with ui.element("div").classes("toolbar"):
                ui.button("Add event", icon="add", on_click=self._add_event).props("outline")
                if self._suggestions.actions:
                    ui.button("Add action", icon="add", on_click=self._add_action).props("outline")
                ui.switch(
                    "Exclude test accounts",
                    value=bool(self._filters.get("filter_test_accounts")),
                    on_change=lambda event: self._set(
                        self._filters, "filter_test_accounts", event.value
                    ),
                )
            Text("h3", "For all of these events")
            ConditionsForm(self._filters, "condition", self._suggestions, self._on_change)

    def _event(self, entry: FilterEntry) -> None:
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
                remove = self._remove("events", entry, f"Remove event {name or 'any'}")
                field.on_value_change(
                    lambda event: remove.props.update(
                        {"aria-label": f"Remove event {event.value or 'any'}"}
                    )
                )
            ConditionsForm(entry, "condition on this event", self._suggestions, self._on_change)

    def _action(self, entry: FilterEntry) -> None:
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
            remove = self._remove("actions", entry, f"Remove action {options[chosen]}")
            field.on_value_change(
                lambda event: remove.props.update(
                    {"aria-label": f"Remove action {options.get(event.value, '')}"}
                )
            )

    def _remove(self, key: str, entry: FilterEntry, label: str) -> ui.button:
        def remove() -> None:
            self._filters[key] = [each for each in self._filters[key] if each is not entry]
            self._draw()
            self._on_change()

        button = ui.button(icon="delete", on_click=remove).props("flat dense")
        button.props["aria-label"] = label
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

    def _set(self, owner: FilterEntry, key: str, value: Any, **others: Any) -> None:
        owner |= {key: value, **others}
        self._on_change()
