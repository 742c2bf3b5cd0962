"""Rows of PostHog's event exports as events.

The files of batch exports and file downloads have one row per event, with these columns:

| column | becomes |
|---|---|
| ``uuid``, ``event``, ``distinct_id``, ``timestamp`` | the same fields of the event |
| ``properties`` | the properties; an object, or the text of one |
| ``elements_chain`` | the property ``$elements_chain`` |
| ``person_properties`` | ``$set`` of the event where they changed |
| ``set``, ``set_once``, ``ip`` | ``$set``, ``$set_once``, ``$ip`` where the properties lack them |

Other columns, such as ``team_id`` and ``person_id``, refer to the other server and are not used;
:attr:`ExportRows.left_out` names those with values.

Source: https://posthog.com/docs/cdp/batch-exports/s3, section Models.
"""

from collections import OrderedDict
from typing import Any

import orjson

from hoglet.kit.json import parse_json

type Row = dict[str, Any]

_MARKS = frozenset({"person_id", "team_id", "person_properties", "elements_chain"})
_EVENT_FIELDS = frozenset({"uuid", "event", "distinct_id", "timestamp"})
_MOVED = {"set": "$set", "set_once": "$set_once", "elements_chain": "$elements_chain", "ip": "$ip"}
_PERSONS = 200_000  # whose properties are remembered; about 100 bytes for each


class ExportRows:
    """Turns rows into events, in the order of the files.

    Attributes:
        left_out: columns that had values but were not used.
    """

    def __init__(self) -> None:
        self.left_out: set[str] = set()
        self._persons: OrderedDict[str, int] = OrderedDict()

    def event(self, row: Any) -> Any:
        """The event of a row; anything but a row of an export is returned unchanged."""
        if not isinstance(row, dict) or not is_export(row):
            return row
        properties = _object(row.get("properties"))
        if not isinstance(properties, dict | None):
            return row  # rejected later with the reason, like events of clients
        properties = dict(properties or {})
        for column, name in _MOVED.items():
            value = _object(row.get(column)) if column.startswith("set") else row.get(column)
            if value:
                properties.setdefault(name, value)
        self._set_person(row, properties)
        values = {key: row[key] for key in _EVENT_FIELDS if row.get(key) is not None}
        used = _EVENT_FIELDS | _MOVED.keys() | {"properties", "person_properties"}
        self.left_out |= {
            key for key, value in row.items() if key not in used and value is not None
        }
        return {**values, "properties": properties}

    def _set_person(self, row: Row, properties: Row) -> None:
        """Set a person's properties on its first event, and on events before which they changed."""
        known = _object(row.get("person_properties"))
        if not isinstance(known, dict) or not known:
            return
        person = str(row.get("person_id") or row.get("distinct_id"))
        state = hash(orjson.dumps(known, option=orjson.OPT_SORT_KEYS))
        if self._persons.get(person) != state:
            given = properties.get("$set")
            properties["$set"] = {**known, **(given if isinstance(given, dict) else {})}
        self._persons[person] = state
        self._persons.move_to_end(person)
        if len(self._persons) > _PERSONS:
            self._persons.popitem(last=False)


def is_export(row: Row) -> bool:
    """Whether a row comes from an export; otherwise it is an event as clients send it."""
    return isinstance(row.get("properties"), str) or not _MARKS.isdisjoint(row)


def _object(value: Any) -> Any:
    """A value that may be the text of an object; other text stays."""
    if not isinstance(value, str):
        return value
    if not value:
        return None
    try:
        return parse_json(value)
    except ValueError:
        return value
