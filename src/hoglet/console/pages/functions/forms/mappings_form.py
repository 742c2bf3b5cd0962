"""A form for mappings: cases of a function with filters and inputs of their own.

Source: docs/spec/hog-functions.md#45-mappings.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from nicegui import ui

from hoglet.console.filters_form import FiltersForm
from hoglet.console.inputs_form import InputsForm, NotJson
from hoglet.console.pages.functions.forms.schema_form import SchemaForm
from hoglet.console.records.functions import EditedFilters, FunctionMapping
from hoglet.console.records.project import IntegrationRecord
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import Text


class Choices(NamedTuple):
    """What the fields offer."""

    suggestions: Suggestions
    integrations: list[IntegrationRecord]
    take_entries: Callable[[], EditedFilters] = dict
    """Removes events and actions from the function's filters, which have none if mappings exist."""


class MappingsForm:
    """Edits mappings; ``value()`` is None without any.

    Args:
        mappings: as stored; None if the function has none.
        choices: the choices for filters and inputs.
        on_change: called after every change.
    """

    def __init__(self, mappings: Any, choices: Choices, on_change: Callable[[], None]) -> None:
        self._choices = choices
        self._on_change = on_change
        self._mappings = [self._mapping(each) for each in mappings or []]
        self._box = ui.element("div").classes("pane")
        self._draw()

    def value(self) -> list[FunctionMapping] | None:
        """The mappings as edited.

        Raises:
            NotJson: an input is invalid.
        """
        return [mapping.value() for mapping in self._mappings] or None

    def _mapping(self, stored: FunctionMapping) -> "_Mapping":
        return _Mapping(stored, self._choices, self._on_change)

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            if not self._mappings:
                hint = (
                    "With mappings, the function runs once for each mapping that matches, "
                    "with the inputs of that mapping."
                )
                ui.label(hint).classes("muted")
            else:
                ui.label("Each mapping chooses its own events.").classes("muted")
            for number, mapping in enumerate(self._mappings, start=1):
                with ui.element("div").classes("card"):
                    mapping.draw(number, lambda mapping=mapping: self._remove(mapping))
            button = ui.button("Add mapping", icon="add", on_click=self._add).props("outline")
            button.style("align-self: flex-start")

    def _keep_edits(self) -> None:
        for mapping in self._mappings:
            mapping.keep_edits()

    def _add(self) -> None:
        self._keep_edits()
        name = f"Mapping {len(self._mappings) + 1}"
        filters = self._choices.take_entries()
        self._mappings.append(self._mapping({"name": name, "filters": filters, "inputs": {}}))
        self._draw()
        self._on_change()

    def _remove(self, mapping: "_Mapping") -> None:
        self._keep_edits()
        self._mappings = [each for each in self._mappings if each is not mapping]
        self._draw()
        self._on_change()


class _Mapping:
    def __init__(
        self, stored: FunctionMapping, choices: Choices, on_change: Callable[[], None]
    ) -> None:
        self._fields: FunctionMapping = dict(stored)
        self._choices = choices
        self._on_change = on_change
        self._filters: FiltersForm | None = None
        self._inputs: InputsForm | None = None

    def value(self) -> FunctionMapping:
        value = dict(self._fields)
        if self._filters is not None:
            value["filters"] = self._filters.value()
        if self._inputs is not None:
            value["inputs"] = self._inputs.inputs()
        return value

    def keep_edits(self) -> None:
        """Store the edits before the form is rendered again."""
        try:
            self._fields = self.value()
        except NotJson:
            return

    def draw(self, number: int, remove: Callable[[], None]) -> None:
        name = str(self._fields.get("name") or "")
        with ui.element("div").classes("toolbar"):
            field = ui.input(
                f"Name of mapping {number}",
                value=name,
                on_change=lambda event: self._set("name", event.value or ""),
            )
            field.props("dense outlined debounce=400").classes("grow")
            ui.switch(
                "Runs",
                value=not self._fields.get("disabled"),
                on_change=lambda event: self._set("disabled", not event.value),
            ).props["aria-label"] = f"Mapping {number} runs"
            button = ui.button(icon="delete", on_click=remove).props("flat dense")
            button.props["aria-label"] = f"Remove mapping {name or number}"
        Text("h3", "Filters of this mapping")
        self._filters = FiltersForm(
            self._fields.get("filters"), self._choices.suggestions, self._on_change
        )
        Text("h3", "Inputs of this mapping")
        self._inputs_box = ui.element("div").classes("pane")
        self._draw_inputs()
        with ui.expansion("Input schema").classes("w-full"):
            self._schema = SchemaForm(self._fields.get("inputs_schema"), self._change_schema)

    def _draw_inputs(self) -> None:
        self._inputs_box.clear()
        with self._inputs_box:
            schema = self._fields.get("inputs_schema") or []
            if not schema:
                ui.label("Uses the inputs of the function.").classes("muted")
            self._inputs = InputsForm(
                schema,
                self._fields.get("inputs") or {},
                self._choices.integrations,
                on_change=self._on_change,
            )

    def _change_schema(self) -> None:
        self.keep_edits()
        self._fields["inputs_schema"] = self._schema.value()
        self._draw_inputs()
        self._on_change()

    def _set(self, name: str, value: Any) -> None:
        self._fields[name] = value
        self._on_change()
