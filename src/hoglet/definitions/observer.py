"""Collects the properties of a batch of events, with types and JSON forms. Pure.

Runs for every property of every event, so it skips values like the previous one.

Source: docs/spec/data-and-queries.md#21-type-of-a-property
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

import msgspec

from hoglet.definitions.detection import detect_type

TEXT: Final = "text"
INTEGER: Final = "integer"
NUMBER: Final = "number"
BOOLEAN: Final = "boolean"
MIXED: Final = "mixed"
UNSEEN: Final = ""
_FORMS: dict[type, str] = {bool: BOOLEAN, int: INTEGER, float: NUMBER, str: TEXT}

MAX_NAME_BYTES: Final = 200
_LEAST, _LARGEST = -(2**63), 2**63 - 1  # the warehouse uses another type for other integers
_UNDEFINED_EVENTS = frozenset({"$$plugin_metrics"})
UNDEFINED_PROPERTIES = frozenset(
    {
        "$set", "$set_once", "$unset", "$groups", "$elements_chain",
        *(f"$group_{index}" for index in range(5)),
    }
)  # fmt: skip
_UNREMEMBERED_FLAGS = ("$feature/", "$feature_enrollment/")


class PropertySample(msgspec.Struct, array_like=True, frozen=True):
    """A property in a batch: ``PropertySample("event", "price", "Numeric", "integer")``.

    ``kind`` is ``event``, ``person`` or ``group_0`` to ``group_4``. ``property_type`` is that of
    the first value with a type, or empty. ``form`` is ``text``, ``integer``, ``number`` or
    ``boolean`` if all values have that JSON form, else ``mixed``; empty if all are null.
    """

    kind: str
    name: str
    property_type: str
    form: str


class Observation(msgspec.Struct, omit_defaults=True):
    """The properties of a batch: ``event_properties`` is ``{"buy": ["price", "plan"]}``."""

    properties: list[PropertySample] = []
    event_properties: dict[str, list[str]] = {}


class PropertyObserver:
    """Observes the events, persons and groups of a batch."""

    def __init__(self) -> None:
        self._seen_of_event: dict[str, dict[str, type]] = {}
        self._events = _Samples(UNDEFINED_PROPERTIES)
        self._others: dict[str, tuple[dict[str, type], _Samples]] = {}

    def observe_event(self, event: str, properties: dict[str, Any], at: datetime) -> None:
        """Observe an event received at ``at``."""
        seen = self._seen_of_event.get(event)
        if seen is None:
            if not _defines_event(event):
                return
            seen = self._seen_of_event[event] = {}
        if event != "$groupidentify":
            _observe(seen, self._events, properties, at)

    def observe(self, kind: str, properties: dict[str, Any], at: datetime) -> None:
        """Observe properties set on a person (``person``) or a group (``group_0``)."""
        known = self._others.get(kind)
        if known is None:
            known = self._others[kind] = ({}, _Samples(frozenset()))
        _observe(*known, properties, at)

    def observation(self) -> Observation:
        """Everything observed so far."""
        samples = self._events.samples_of("event")
        for kind, (_, others) in self._others.items():
            samples += others.samples_of(kind)
        known = self._events.forms
        return Observation(
            properties=samples,
            event_properties={
                _clean(event): [
                    name for each in seen if (name := _clean(each)) in known and _is_kept(name)
                ]
                for event, seen in self._seen_of_event.items()
            },
        )


def _observe(
    seen: dict[str, type], samples: "_Samples", properties: dict[str, Any], at: datetime
) -> None:
    for name, value in properties.items():
        kind = type(value)
        if kind is seen.get(name) and (kind is not int or _LEAST <= value <= _LARGEST):
            continue  # same as the previous one: the common case
        seen[name] = kind
        samples.add(name, value, at)


class _Samples:
    """Types and forms by name; ``forms`` contains every name seen."""

    def __init__(self, excluded: frozenset[str]) -> None:
        self._excluded = excluded
        self.types: dict[str, str] = {}
        self.forms: dict[str, str] = {}

    def add(self, name: str, value: Any, at: datetime) -> None:
        name = _clean(name)
        if name in self._excluded or len(name.encode()) > MAX_NAME_BYTES:
            return
        if name not in self.types:
            type_ = detect_type(name, value, now=at.timestamp())
            if type_ is not None:
                self.types[name] = type_
        form = UNSEEN if value is None else json_form(value)
        self.forms[name] = merge_forms(self.forms.get(name, UNSEEN), form)

    def samples_of(self, kind: str) -> list[PropertySample]:
        return [
            PropertySample(kind, name, self.types.get(name, ""), form)
            for name, form in self.forms.items()
        ]


def json_form(value: Any) -> str:
    """The JSON form of a value: ``text``, ``integer``, ``number``, ``boolean``, else ``mixed``."""
    form = _FORMS.get(type(value), MIXED)
    return MIXED if type(value) is int and not _LEAST <= value <= _LARGEST else form


def merge_forms(first: str, second: str) -> str:
    """The form of a property with values of both forms."""
    if second in {first, UNSEEN}:
        return first
    if first == UNSEEN:
        return second
    return NUMBER if {first, second} == {INTEGER, NUMBER} else MIXED


def merge_observations(parts: Iterable[Observation]) -> Observation:
    """Merge the observations of parts of a batch, in order."""
    samples: dict[tuple[str, str], PropertySample] = {}
    names: dict[str, dict[str, None]] = {}
    for part in parts:
        for sample in part.properties:
            known = samples.get((sample.kind, sample.name), sample)
            samples[sample.kind, sample.name] = PropertySample(
                sample.kind,
                sample.name,
                known.property_type or sample.property_type,
                merge_forms(known.form, sample.form),
            )
        for event, properties in part.event_properties.items():
            names.setdefault(event, {}).update(dict.fromkeys(properties))
    of_events = {event: list(properties) for event, properties in names.items()}
    return Observation(list(samples.values()), of_events)


def _defines_event(event: str) -> bool:
    return event not in _UNDEFINED_EVENTS and len(_clean(event).encode()) <= MAX_NAME_BYTES


def _is_kept(name: str) -> bool:
    return not name.startswith(_UNREMEMBERED_FLAGS)


def _clean(name: str) -> str:
    """A name that every database can store: without NUL and lone surrogates."""
    if name.isascii():
        return name.replace("\0", "\ufffd")
    whole = name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", "\ufffd")
