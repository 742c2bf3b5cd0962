"""Resolves integration ids in the inputs of functions. Pure, except for one read.

An id becomes the integration's config with a placeholder for its token; an unknown id stays a
number, and building the inputs fails with an error.

Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.executable.model import ExecutableFunction, ExecutableInput
from hoglet.functions.inputs.types import INTEGRATION_TYPES
from hoglet.functions.integrations import repository
from hoglet.functions.tables import IntegrationRow
from hoglet.kit.json import JsonObject, is_array

type Known = Mapping[int, JsonObject]
"""Integration id to the object that programs see."""


async def resolve(
    session: AsyncSession, project_id: int, functions: Sequence[ExecutableFunction]
) -> list[ExecutableFunction]:
    """Functions with integrations resolved; queries the database only if they use some."""
    wanted = {
        integration_id for function in functions for integration_id in integration_ids(function)
    }
    if not wanted:
        return list(functions)
    rows = await repository.by_ids(session, project_id, wanted)
    known = {row.id: seen_by_programs(row) for row in rows.values()}
    return [with_integrations(function, known) for function in functions]


def seen_by_programs(row: IntegrationRow) -> JsonObject:
    """``{"team": {...}, "access_token": "hoglet-integration-…"}``."""
    return {**row.config, "access_token": row.placeholder}


def integration_ids(function: ExecutableFunction) -> set[int]:
    """The integration ids in a function's inputs, including mappings."""
    inputs = [*function.inputs, *(i for m in function.mappings or () for i in m.inputs)]
    values = [item.value for item in inputs if item.type in INTEGRATION_TYPES]
    flat = [entry for value in values for entry in (value if is_array(value) else [value])]
    return {entry for entry in flat if isinstance(entry, int)}


def with_integrations(function: ExecutableFunction, known: Known) -> ExecutableFunction:
    """The function with every known id replaced."""
    mappings = function.mappings and tuple(
        msgspec.structs.replace(mapping, inputs=_resolved(mapping.inputs, known))
        for mapping in function.mappings
    )
    inputs = _resolved(function.inputs, known)
    return msgspec.structs.replace(function, inputs=inputs, mappings=mappings)


def _resolved(inputs: Sequence[ExecutableInput], known: Known) -> tuple[ExecutableInput, ...]:
    return tuple(
        msgspec.structs.replace(item, value=_value(item.value, known))
        if item.type in INTEGRATION_TYPES
        else item
        for item in inputs
    )


def _value(value: Any, known: Known) -> Any:
    if is_array(value):
        return [_value(item, known) for item in value]
    return known.get(value, value) if isinstance(value, int) else value
