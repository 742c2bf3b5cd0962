"""Derives person and group updates from an event. Pure; runs in a worker process.

Source: docs/spec/hog-functions.md#14-capture, the table of events and their effects.
"""

from typing import Any

import msgspec

from hoglet.events.parse import id_text, sanitize

CAMPAIGN = frozenset(
    {
        "utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term", "gclid",
        "gad_source", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "twclid",
        "li_fat_id", "mc_cid", "igshid", "ttclid", "rdt_cid", "irclid", "_kx", "epik", "qclid",
        "sccid", "$referrer", "$referring_domain",
    }
)  # fmt: skip
_MERGES = frozenset({"$identify", "$create_alias", "$merge_dangerously"})


class PersonUpdate(msgspec.Struct, array_like=True, omit_defaults=True):
    """The update of a person by an event; empty for most events.

    Args:
        overwrite: ``$set`` and campaign properties.
        once: ``$set_once`` and the ``$initial_…`` twins.
        unset: ``$unset``.
        merge_from: the other distinct id of ``$identify``, ``$create_alias`` and similar events.
        identifies: ``$identify`` with an anonymous id marks the person as identified.
        dangerously: merges even an identified person.
    """

    overwrite: dict[str, Any] = {}
    once: dict[str, Any] = {}
    unset: list[str] = []
    merge_from: str = ""
    identifies: bool = False
    dangerously: bool = False


def person_update_of(event: str, properties: dict[str, Any]) -> PersonUpdate | None:
    """The update by an event; None if the event does not affect an existing person."""
    campaign = {key: properties[key] for key in CAMPAIGN.intersection(properties)}
    overwrite, once = properties.get("$set"), properties.get("$set_once")
    unset = properties.get("$unset")
    if not (campaign or overwrite or once or unset or event in _MERGES):
        return None
    effect = PersonUpdate(
        overwrite={**_known(campaign), **_object(overwrite)},
        once={**_initial(_known(campaign)), **_object(once)},
        unset=[key for key in unset if isinstance(key, str)] if isinstance(unset, list) else [],
    )
    if event in _MERGES:
        _add_merge(effect, event, properties)
    return effect


def processes_person(properties: dict[str, Any]) -> bool:
    """False for events that disable person processing."""
    return properties.get("$process_person_profile") not in (False, "false")


def groups_of(properties: dict[str, Any]) -> dict[str, str] | None:
    """``$groups`` as ``{type: key}`` with string keys, or None."""
    groups = properties.get("$groups")
    if not isinstance(groups, dict) or not groups:
        return None
    by_type = {
        sanitize(kind): _key_of(key)
        for kind, key in groups.items()
        if kind and len(kind) <= _LONGEST
    }
    return {kind: key for kind, key in by_type.items() if key} or None


class GroupUpdate(msgspec.Struct, array_like=True):
    """A ``$groupidentify``: merge ``overwrite`` into the properties of a group."""

    group_type: str
    group_key: str
    overwrite: dict[str, Any]


def group_update_of(event: str, properties: dict[str, Any]) -> GroupUpdate | None:
    """The update by ``$groupidentify``; None for other events and for incomplete ones."""
    if event != "$groupidentify":
        return None
    kind, key = properties.get("$group_type"), _key_of(properties.get("$group_key"))
    if not isinstance(kind, str) or not kind or len(kind) > _LONGEST or not key:
        return None
    return GroupUpdate(sanitize(kind), key, _object(properties.get("$group_set")))


_LONGEST = 400  # columns of the groups' tables


def _add_merge(effect: PersonUpdate, event: str, properties: dict[str, Any]) -> None:
    other = id_text(properties.get("$anon_distinct_id" if event == "$identify" else "alias"))
    if other:
        effect.merge_from = other
        effect.identifies = event == "$identify"
        effect.dangerously = event == "$merge_dangerously"


def _known(campaign: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in campaign.items() if value not in (None, "")}


def _initial(campaign: dict[str, Any]) -> dict[str, Any]:
    return {f"$initial_{key.removeprefix('$')}": value for key, value in campaign.items()}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _key_of(value: Any) -> str:
    return "" if isinstance(value, bool) else id_text(value)[:_LONGEST]
