"""Keeps secrets out of a function's history, also values that became secret only later.

The history holds inputs as they were. A value that was plain is hidden there as soon as its key is
made secret: it may be the very value that is secret now. Pure, but for one rewrite of entries.

Source: spec/hog-functions.md sections 3.5 and 4.4.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Change, rewrite_changes
from hoglet.functions.inputs.secrets import SHOWN, secret_keys

type Json = dict[str, Any]


class SecretKeys(msgspec.Struct, frozen=True):
    """Which keys are secret in the function's inputs, and in those of any of its mappings."""

    inputs: frozenset[str] = frozenset()
    mappings: frozenset[str] = frozenset()

    def __or__(self, other: "SecretKeys") -> "SecretKeys":
        return SecretKeys(self.inputs | other.inputs, self.mappings | other.mappings)

    def __le__(self, other: "SecretKeys") -> bool:
        return self.inputs <= other.inputs and self.mappings <= other.mappings


def secret_keys_of(fields: Mapping[str, Any]) -> SecretKeys:
    """The secret keys of a function's ``inputs_schema`` and ``mappings``."""
    schemas = [mapping.get("inputs_schema") or [] for mapping in fields["mappings"] or []]
    return SecretKeys(
        frozenset(secret_keys(fields["inputs_schema"] or [])),
        frozenset(key for schema in schemas for key in secret_keys(schema)),
    )


def hidden(field: str, value: Any, keys: SecretKeys) -> Any:
    """A logged value of a field with ``{"secret": true}`` for the values of keys."""
    if field == "inputs" and isinstance(value, dict):
        return _without(value, keys.inputs)
    if field == "mappings" and isinstance(value, list):
        return [
            one | {"inputs": _without(one["inputs"], keys.mappings)} if one.get("inputs") else one
            for one in value
        ]
    return value


def hide(changes: Sequence[Change], keys: SecretKeys) -> list[Change]:
    """Changes of which no value of a secret key can be read."""
    return [
        Change(
            one.field,
            one.action,
            hidden(one.field, one.before, keys),
            hidden(one.field, one.after, keys),
        )
        for one in changes
    ]


async def hide_in_history(
    session: AsyncSession, project_id: int, scope: str, item_id: str, keys: SecretKeys
) -> None:
    """Hide the values of keys in what is logged already, in the caller's transaction."""

    def without(change: Json) -> Json:
        shown = {end: hidden(change["field"], change[end], keys) for end in ("before", "after")}
        return change | shown

    await rewrite_changes(session, project_id, scope=scope, item_id=item_id, change=without)


def kept_secret(wanted: Json, now: Mapping[str, Any]) -> Json:
    """Fields of an earlier state whose hidden values are what they are now.

    A key that is secret now stays secret: its value must not be asked for, nor come to light.
    """
    kept = dict(wanted)
    keys = secret_keys_of(now)
    if "inputs_schema" in kept:
        kept["inputs_schema"] = _still_secret(kept["inputs_schema"], keys.inputs)
    if kept.get("inputs"):
        kept["inputs"] = _present(kept["inputs"], now["inputs"] or {}, keys.inputs)
    if kept.get("mappings"):
        kept["mappings"] = [_kept_mapping(one, keys.mappings) for one in kept["mappings"]]
    return kept


def _kept_mapping(mapping: Json, keys: frozenset[str]) -> Json:
    kept = dict(mapping)
    if kept.get("inputs_schema"):
        kept["inputs_schema"] = _still_secret(kept["inputs_schema"], keys)
    if kept.get("inputs"):
        kept["inputs"] = _present(kept["inputs"], {}, keys)
    return kept


def _still_secret(schema: list[Json], keys: frozenset[str]) -> list[Json]:
    return [item | {"secret": True} if item["key"] in keys else item for item in schema]


def _present(inputs: Json, now: Json, keys: frozenset[str]) -> Json:
    """The inputs; a hidden one is left as it is: kept where it is sealed, else the present one."""
    plain = {key: entry for key, entry in inputs.items() if entry != SHOWN and key not in keys}
    return plain | {key: now[key] for key in inputs if key not in plain and key in now}


def _without(inputs: Json, keys: frozenset[str]) -> Json:
    return {key: SHOWN if key in keys else entry for key, entry in inputs.items()}
