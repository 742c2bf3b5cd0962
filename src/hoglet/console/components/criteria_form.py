"""A form for the criteria of a cohort: properties of persons and events they performed.

Criteria that the form cannot show, such as nested groups, are edited as JSON.

Source: docs/spec/data-and-queries.md#34-dynamic-cohorts.
"""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.conditions_form import OPERATORS, WITHOUT_VALUE, scalar
from hoglet.console.records.project import Criterion
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import Text

_FIELD = "outlined dense options-dense"
_GROUPS = {"AND": "all of", "OR": "any of"}
_KINDS = {"person": "have property", "behavioral": "performed"}
_BEHAVIORAL_KEYS = frozenset(
    {"type", "value", "key", "event_type", "time_value", "time_interval", "negation"}
)
_NEW: Criterion = {"type": "person", "key": "", "operator": "exact", "value": ""}
_PERFORMED: Criterion = {
    "type": "behavioral",
    "value": "performed_event",
    "key": "",
    "event_type": "events",
    "time_value": 30,
    "time_interval": "day",
}


class CriteriaForm:
    """Edits criteria; ``value()`` is what to save.

    Args:
        suggestions: the suggestions of the project.
        filters: as stored: ``{"properties": {"type": "OR", "values": [...]}}``.
    """

    def __init__(self, suggestions: Suggestions, filters: Criterion | None) -> None:
        self._suggestions = suggestions
        self._stored = filters or {}
        root = self._stored.get("properties") or {"type": "OR", "values": [dict(_NEW)]}
        flat = _flat(root)
        self._json: ui.textarea | None = None
        if flat is None:
            text = orjson.dumps(root, option=orjson.OPT_INDENT_2).decode()
            self._json = ui.textarea("Criteria as JSON", value=text)
            self._json.props("outlined dense autogrow").classes("w-full font-mono")
            return
        self._criteria = [dict(each) for each in flat["values"]]
        with ui.element("div").classes("toolbar"):
            Text("h3", "Persons who match")
            self._group = ui.select(_GROUPS, value=flat["type"])
            self._group.props(f'{_FIELD} aria-label="Match"')
        self._box = ui.element("div").classes("pane")
        self._draw()

    def value(self) -> Criterion:
        """The filters as edited.

        Raises:
            ValueError: the JSON is invalid.
        """
        other_filters = {name: each for name, each in self._stored.items() if name != "properties"}
        if self._json is None:
            return {
                **other_filters,
                "properties": {"type": self._group.value, "values": self._criteria},
            }
        try:
            return {**other_filters, "properties": orjson.loads(self._json.value or "")}
        except orjson.JSONDecodeError as error:
            raise ValueError(f"The criteria are not valid JSON: {error}") from None

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            for criterion in self._criteria:
                with ui.element("div").classes("toolbar condition"):
                    self._criterion(criterion)
            button = ui.button("Add criterion", icon="add", on_click=self._add).props("outline")
            button.style("align-self: flex-start")

    def _criterion(self, criterion: Criterion) -> None:
        def retype(event: Any) -> None:
            criterion.clear()
            criterion.update(_NEW if event.value == "person" else _PERFORMED)
            self._draw()

        def remove() -> None:
            self._criteria = [each for each in self._criteria if each is not criterion]
            self._draw()

        ui.select(_KINDS, value=criterion["type"], on_change=retype).props(
            f'{_FIELD} aria-label="Criterion"'
        ).classes("w-44")
        if criterion["type"] == "person":
            self._property(criterion)
        else:
            self._event(criterion)
        ui.switch(
            "not",
            value=bool(criterion.get("negation")),
            on_change=lambda event: criterion.update(negation=event.value),
        )
        button = ui.button(icon="delete", on_click=remove).props("flat dense")
        button.props["aria-label"] = f"Remove criterion {criterion['key']}".strip()

    def _property(self, criterion: Criterion) -> None:
        self._name(criterion, "Property", self._suggestions.properties["person"])
        operator = criterion.get("operator") or "exact"

        def change(event: Any) -> None:
            criterion["operator"] = event.value
            if event.value in WITHOUT_VALUE:
                criterion["value"] = event.value
            self._draw()

        choices = OPERATORS if operator in OPERATORS else {**OPERATORS, operator: operator}
        ui.select(choices, value=operator, on_change=change).props(
            f'{_FIELD} aria-label="Operator"'
        ).classes("w-40")
        if operator in WITHOUT_VALUE:
            return
        stored = criterion.get("value")
        text = ", ".join(map(str, stored)) if isinstance(stored, list) else str(stored or "")

        def write(event: Any) -> None:
            typed = str(event.value or "")
            if isinstance(stored, list):
                criterion["value"] = [part.strip() for part in typed.split(",") if part.strip()]
            else:
                criterion["value"] = scalar(operator, typed)

        ui.input("Value", value=text, on_change=write).props("outlined dense").classes("grow")

    def _event(self, criterion: Criterion) -> None:
        self._name(criterion, "Event", self._suggestions.events)
        days = ui.number(
            "In the last",
            value=criterion["time_value"],
            min=1,
            precision=0,
            suffix=f"{criterion['time_interval']}s",
            on_change=lambda event: criterion.update(time_value=int(event.value or 0)),
        )
        days.props("outlined dense").classes("w-40")

    def _name(self, criterion: Criterion, label: str, known: list[str]) -> None:
        name = criterion["key"]
        field = ui.input(
            label,
            value=name,
            autocomplete=known,
            on_change=lambda event: criterion.update(key=event.value or ""),
        )
        field.props("outlined dense").classes("grow")

    def _add(self) -> None:
        self._criteria.append(dict(_NEW))
        self._draw()


def _flat(root: Criterion) -> Criterion | None:
    """The criteria as one group; None if the form cannot show them all."""
    values = root.get("values") or []
    while len(values) == 1 and "values" in values[0]:
        root, values = values[0], values[0]["values"]
    return root if all(map(_is_shown, values)) else None


def _is_shown(criterion: Criterion) -> bool:
    if criterion.get("type") == "person":
        return True
    used = {name for name, value in criterion.items() if value not in (None, [])}
    return (
        criterion.get("value") == "performed_event"
        and criterion.get("event_type") == "events"
        and "time_value" in criterion
        and used <= _BEHAVIORAL_KEYS
    )
