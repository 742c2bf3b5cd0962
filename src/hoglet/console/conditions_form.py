"""A form for conditions on properties of events and persons."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from hoglet.console.records.functions import FilterEntry
from hoglet.console.records.project import PropertyCondition
from hoglet.console.suggestions import Suggestions

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
_FIELD = "dense outlined options-dense"


class ConditionsForm:
    """Edits the list ``owner["properties"]`` in place.

    Args:
        owner: e.g. an event of a filter: ``{"id": "bought", "properties": [{"key": "plan",
            "value": ["pro"], "operator": "exact", "type": "event"}]}``.
        noun: what a condition is called on the button: ``condition``.
        suggestions: the suggestions of the project.
        on_change: called after every change.
    """

    def __init__(
        self,
        owner: FilterEntry,
        noun: str,
        suggestions: Suggestions,
        on_change: Callable[[], Awaitable[None] | None],
    ) -> None:
        self._owner = owner
        self._noun = noun
        self._suggestions = suggestions
        self._on_change = on_change
        self._box = ui.element("div").classes("pane")
        self._draw()

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            for condition in self._owner.get("properties") or []:
                self._condition(condition)
            button = ui.button(f"Add {self._noun}", icon="add", on_click=self._add)
            button.props("flat dense").style("align-self: flex-start")

    def _add(self) -> None:
        condition = {"key": "", "value": [], "operator": "exact", "type": "event"}
        self._owner["properties"] = [*(self._owner.get("properties") or []), condition]
        self._draw()

    def _condition(self, condition: PropertyCondition) -> None:
        kind = condition.get("type", "event")
        if kind not in self._suggestions.properties:
            with ui.element("div").classes("toolbar"):
                ui.label(f"{kind}: {condition.get('key')}").classes("grow font-mono")
                self._remove(condition)
            return
        with ui.element("div").classes("toolbar condition"):
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
            remove = self._remove(condition)

        async def change_key(event: Any) -> None:
            # No redraw, which would take the focus from the next field.
            self._set(condition, "key", event.value or "")
            remove.props["aria-label"] = f"Remove condition {condition['key']}"
            if load is not None:
                await load()

        key.on_value_change(change_key)

    def _kind_and_key(self, condition: PropertyCondition, kind: str) -> ui.select:
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

    def _value(
        self, condition: PropertyCondition, kind: str
    ) -> Callable[[], Awaitable[None]] | None:
        """Render the field of the value; returns a function that loads its suggestions."""
        operator = condition.get("operator", "exact")
        if operator in WITHOUT_VALUE:
            return None
        stored = condition.get("value")
        values = stored if isinstance(stored, list) else [] if stored in (None, "") else [stored]
        values = [str(value) for value in values]
        if operator in {"exact", "is_not"}:
            return self._value_list(condition, kind, values)
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

    def _value_list(
        self, condition: PropertyCondition, kind: str, values: list[str]
    ) -> Callable[[], Awaitable[None]]:
        """Render a field of several values; returns a function that loads its suggestions."""
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

    def _remove(self, condition: PropertyCondition) -> ui.button:
        def remove() -> None:
            self._owner["properties"] = [
                each for each in self._owner["properties"] if each is not condition
            ]
            self._draw()
            self._on_change()

        button = ui.button(icon="delete", on_click=remove).props("flat dense")
        button.props["aria-label"] = f"Remove condition {condition.get('key') or ''}"
        return button

    def _set_operator(self, condition: PropertyCondition, operator: str) -> None:
        if operator in WITHOUT_VALUE:
            condition["value"] = operator
        self._set(condition, "operator", operator, redraw=True)

    def _set(
        self, condition: PropertyCondition, key: str, value: Any, *, redraw: bool = False
    ) -> None:
        condition[key] = value
        if redraw:
            self._draw()
        self._on_change()


def scalar(operator: str, text: str) -> Any:
    """The value for an operator: a number if it compares numbers and the text is one."""
    if operator not in _NUMERIC:
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
