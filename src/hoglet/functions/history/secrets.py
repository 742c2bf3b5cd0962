"""Keeps secrets out of a function's history, including values that became secret later.

The history contains earlier inputs. When an input becomes secret, its earlier values are masked
there, because the secret may be one of them.

Source: docs/spec/hog-functions.md#35-limits-and-effects and docs/spec/hog-functions.md#44-secrets.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import FieldChange, rewrite_changes
from hoglet.access.schemas import ActivityChange
from hoglet.functions.inputs.secrets import STORED_SECRET, secret_keys, stored_identities
from hoglet.functions.json_types import FunctionMapping, InputSchema, InputValues, LoggedFields
from hoglet.kit.json import is_array, is_object


def hide(changes: Sequence[FieldChange], *states: LoggedFields) -> list[FieldChange]:
    """The changes, without values whose keys are secret in either state."""
    return [
        FieldChange(
            change.field,
            change.action,
            _hidden(change.field, change.before, states),
            _hidden(change.field, change.after, states),
        )
        for change in changes
    ]


async def hide_in_history(
    session: AsyncSession, project_id: int, scope: str, item_id: str, state: LoggedFields
) -> None:
    """Mask logged values whose keys are secret now, in the caller's transaction."""

    def without(change: ActivityChange) -> ActivityChange:
        field = change["field"] or ""
        return {
            **change,
            "before": _hidden(field, change["before"], [state]),
            "after": _hidden(field, change["after"], [state]),
        }

    await rewrite_changes(session, project_id, scope=scope, item_id=item_id, change=without)


def may_become_secret(before: LoggedFields, after: LoggedFields) -> bool:
    """Whether a save may have made inputs secret."""
    return any(before.get(name) != after.get(name) for name in ("inputs_schema", "mappings"))


def kept_secret(earlier: LoggedFields, now: LoggedFields) -> LoggedFields:
    """Fields of an earlier state with masked values replaced by the current ones.

    A key that is secret now stays secret: its value is neither required nor revealed.
    """
    restored = _with_stored_secrets(earlier, now)
    if mappings := restored.get("mappings"):
        pairs = _paired(mappings, now.get("mappings"))
        restored["mappings"] = [_with_stored_secrets(pair, other) for pair, other in pairs]
    return restored


def _with_stored_secrets[Owner: (LoggedFields, FunctionMapping)](
    earlier: Owner, now: Owner
) -> Owner:
    keys, restored = _secret_keys(now), earlier.copy()
    schema, inputs = earlier.get("inputs_schema"), earlier.get("inputs")
    if schema:
        marked: list[InputSchema] = [
            {**item, "secret": True} if item["key"] in keys else item for item in schema
        ]
        restored["inputs_schema"] = marked
    if inputs:
        restored["inputs"] = _present(inputs, now.get("inputs") or {}, keys)
    return restored


def _present(inputs: InputValues, now: InputValues, keys: set[str]) -> InputValues:
    """The inputs, with masked ones replaced by the current ones unless they are encrypted."""
    plain = {
        key: entry for key, entry in inputs.items() if entry != STORED_SECRET and key not in keys
    }
    return plain | {key: now[key] for key in inputs if key not in plain and key in now}


def _hidden(field: str, value: Any, states: Iterable[LoggedFields]) -> Any:
    """A logged value with ``{"secret": true}`` for what is secret in a state."""
    for state in states:
        if field == "inputs" and is_object(value):
            value = _without(value, _secret_keys(state))
        elif field == "mappings" and is_array(value):
            value = [
                {**item, "inputs": _without(inputs, _secret_keys(other))}
                if (inputs := item.get("inputs"))
                else item
                for item, other in _paired(value, state.get("mappings"))
            ]
    return value


def _paired(
    mappings: list[FunctionMapping], others: list[FunctionMapping] | None
) -> list[tuple[FunctionMapping, FunctionMapping]]:
    """Pairs of each mapping and its counterpart; an empty mapping where there is none."""
    known = others or []
    indexes = stored_identities(known, mappings)
    return [
        (mapping, known[indexes[i]] if i in indexes else {}) for i, mapping in enumerate(mappings)
    ]


def _secret_keys(holder: LoggedFields | FunctionMapping) -> set[str]:
    return secret_keys(holder.get("inputs_schema") or [])


def _without(inputs: InputValues, keys: set[str]) -> InputValues:
    return {key: STORED_SECRET if key in keys else entry for key, entry in inputs.items()}
