"""The events table and views of its rows: ``poe``, ``goe_n``, elements."""

from hoglet.hogql.schema.fields import (
    Computed,
    Derived,
    Field,
    LazyTable,
    Nested,
    Properties,
    Redirect,
    StoredColumn,
    Table,
)
from hoglet.hogql.traffic_rules import AGENT_SQL
from hoglet.hogql.types import BOOLEAN, DATETIME, STRING, STRING_ARRAY, UUID

# Quotes in values are escaped as \", so a value ends at an unescaped quote.
_VALUE = r'"((?:[^"\\\\]|\\\\.)*)"'
_NAMED = rf"(?:^|[:\"]){{name}}={_VALUE}"
_PLAIN = r"""replaceAll({values}, '\\"', '"')"""


def _values(name: str) -> str:
    """SQL for the distinct values of an attribute in the elements chain."""
    values = f"extractAll(elements_chain, '{_NAMED.format(name=name)}')"
    return f"arrayDistinct(arrayMap(value -> {_PLAIN.format(values='value')}, {values}))"


_HREF = _PLAIN.format(values=f"extract(elements_chain, '{_NAMED.format(name='href')}')")
_TEXTS = _values("text")
_IDS = _values("attr_id")
_ELEMENTS = (
    f"arrayDistinct(extractAll(replaceRegexpAll(elements_chain, '{_VALUE}', ''), "
    "'(?:^|;)(a|button|form|input|select|textarea|label)(?:\\\\.|$|:)'))"
)

_ISSUE = (
    "accurateCastOrNull(CAST(properties_json.`$exception_issue_id`, 'Nullable(String)'), 'UUID')"
)

PERSON_ON_EVENT = Nested(
    {
        "id": StoredColumn("person_id", UUID),
        "properties": Properties("person_properties", "person_properties_json", "person"),
    }
)

_AGENT = (("properties", "$raw_user_agent"),)
_TRAFFIC = {
    "$virt_is_bot": ("isBot", BOOLEAN),
    "$virt_traffic_type": ("getTrafficType", STRING),
    "$virt_traffic_category": ("getTrafficCategory", STRING),
    "$virt_bot_name": ("getBotName", STRING),
    "$virt_bot_operator": ("getBotOperator", STRING),
}

FIELDS: dict[str, Field] = {
    "uuid": StoredColumn("uuid", UUID),
    "event": StoredColumn("event", STRING),
    "properties": Properties("properties", "properties_json", "event"),
    "timestamp": StoredColumn("timestamp", DATETIME),
    "distinct_id": StoredColumn("distinct_id", STRING),
    "elements_chain": StoredColumn("elements_chain", STRING),
    "created_at": StoredColumn("created_at", DATETIME),
    "$session_id": StoredColumn("$session_id", STRING),
    "$window_id": StoredColumn("$window_id", STRING),
    "person_mode": StoredColumn("person_mode", STRING),
    **{f"$group_{index}": StoredColumn(f"$group_{index}", STRING) for index in range(5)},
    "person_id": Derived(
        "if(notEmpty({0}), {1}, {2})",
        (("override", "distinct_id"), ("override", "person_id"), ("event_person_id",)),
        UUID,
        star=True,
    ),
    "event_person_id": StoredColumn("person_id", UUID, star=False),
    "override": LazyTable("person_distinct_id_overrides", ("distinct_id",), ("distinct_id",)),
    "person": LazyTable("persons", ("person_id",), ("id",)),
    "pdi": LazyTable("person_distinct_ids", ("distinct_id",), ("distinct_id",)),
    "poe": PERSON_ON_EVENT,
    "session": LazyTable("sessions", ("$session_id",), ("session_id",), missing_is_null=True),
    **{
        f"group_{index}": LazyTable(f"group_{index}", (f"$group_{index}",), ("key",))
        for index in range(5)
    },
    **{f"goe_{index}": Redirect((f"group_{index}",)) for index in range(5)},
    "event_issue_id": Computed(_ISSUE, UUID.or_null()),
    "issue_id": Redirect(("event_issue_id",)),
    **{
        name: Derived(AGENT_SQL[function], _AGENT, type_)
        for name, (function, type_) in _TRAFFIC.items()
    },
    "elements_chain_href": Computed(_HREF, STRING),
    "elements_chain_texts": Computed(_TEXTS, STRING_ARRAY),
    "elements_chain_ids": Computed(_IDS, STRING_ARRAY),
    "elements_chain_elements": Computed(_ELEMENTS, STRING_ARRAY),
}

_OTHER_NAMES = {
    **dict.fromkeys(("event_name", "event_type", "name"), "event"),
    **dict.fromkeys(("user_id", "actor_id"), "person_id"),
    **dict.fromkeys(("time", "date", "ts", "event_time", "occurred_at", "sent_at"), "timestamp"),
}
EVENTS = Table("events", "events", FIELDS, time="timestamp", other_names=_OTHER_NAMES)
