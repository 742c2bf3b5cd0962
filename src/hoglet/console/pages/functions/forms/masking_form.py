"""A form for masking: how often a function runs for events that share a value.

Source: docs/spec/hog-functions.md#6-masking.
"""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from hoglet.console.records.functions import MaskingSettings

_UNITS = {1: "seconds", 60: "minutes", 3600: "hours"}
_ONCE, _EVERY = "once", "every"
_RUNS = {_ONCE: "the first event only", _EVERY: "every n-th event"}
_NEW: MaskingSettings = {"hash": "{event.distinct_id}", "ttl": 3600, "threshold": None}
_FIELD = "dense outlined"


class MaskingForm:
    """Edits masking; ``value()`` is None if it is off.

    Args:
        masking: as stored: ``{"hash": "{person.id}", "ttl": 3600, "threshold": null}``.
        on_change: called after every change.
    """

    def __init__(self, masking: Any, on_change: Callable[[], None]) -> None:
        self._masking: MaskingSettings = {**_NEW, **(masking or {})}
        self._is_on = bool(masking)
        self._on_change = on_change
        self._unit = _unit_of(int(self._masking["ttl"]))
        ui.switch("Limit repeated runs", value=self._is_on, on_change=self._turn)
        self._box = ui.element("div").classes("pane")
        self._draw()

    def value(self) -> MaskingSettings | None:
        """Masking as edited."""
        return self._masking if self._is_on else None

    def _turn(self, event: Any) -> None:
        self._is_on = bool(event.value)
        self._draw()
        self._on_change()

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            if not self._is_on:
                ui.label("The function runs for every matching event.").classes("muted")
                return
            same = ui.input(
                "Events are equal if this template renders the same text",
                value=str(self._masking["hash"]),
                on_change=lambda event: self._set("hash", event.value or ""),
            )
            same.props(f"{_FIELD} debounce=400 stack-label").classes("w-full font-mono")
            with ui.element("div").classes("toolbar"):
                self._run_fields()
            with ui.element("div").classes("toolbar"):
                self._time_fields()

    def _run_fields(self) -> None:
        threshold = self._masking["threshold"]
        choice = ui.select(
            _RUNS,
            value=_EVERY if threshold else _ONCE,
            label="Of equal events, run for",
            on_change=self._choose,
        )
        choice.props(f"{_FIELD} options-dense").classes("grow")
        if threshold:
            every = ui.number(
                "n",
                value=threshold,
                min=2,
                precision=0,
                on_change=lambda event: self._set("threshold", int(event.value or 2)),
            )
            every.props(_FIELD).classes("w-28")

    def _choose(self, event: Any) -> None:
        self._set("threshold", 10 if event.value == _EVERY else None)
        self._draw()

    def _time_fields(self) -> None:
        def write(_event: Any) -> None:
            self._set("ttl", int(amount.value or 0) * int(unit.value or 1))

        amount = ui.number(
            "Start over after",
            value=int(self._masking["ttl"]) // self._unit,
            min=1,
            precision=0,
            on_change=write,
        )
        amount.props(_FIELD).classes("w-44")
        unit = ui.select(_UNITS, value=self._unit, on_change=write)
        unit.props(f'{_FIELD} options-dense aria-label="Unit"').classes("w-32")

    def _set(self, name: str, value: Any) -> None:
        self._masking[name] = value
        self._on_change()


def _unit_of(seconds: int) -> int:
    """The largest unit that divides a duration."""
    return max(unit for unit in _UNITS if seconds % unit == 0)
