"""Statements on integrations, and the integrations that the inputs of functions name by id.

In inputs an id becomes the integration's config with a placeholder for its token; an unknown id
stays a number, and building the inputs fails with an error.

Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.executable.model import ExecutableFunction, ExecutableInput
from hoglet.functions.inputs.types import INTEGRATION_TYPES
from hoglet.functions.tables import IntegrationRow
from hoglet.kit.json import JsonObject, is_array

_ID_DIGITS = 9  # ids stay below 2**31


def read_id(text: str) -> int | None:
    """The integration id in a path; None if it is not valid."""
    is_id = text.isascii() and text.isdecimal() and len(text) <= _ID_DIGITS
    return int(text) if is_id else None


async def find(
    session: AsyncSession, project_id: int, integration_id: int
) -> IntegrationRow | None:
    """An integration of the project."""
    return await session.scalar(
        select(IntegrationRow).where(
            IntegrationRow.id == integration_id, IntegrationRow.project_id == project_id
        )
    )


async def count(session: AsyncSession, project_id: int, kind: str | None) -> int:
    """Number of integrations in a list."""
    statement = select(func.count()).select_from(IntegrationRow)
    return await session.scalar(statement.where(*_listed(project_id, kind))) or 0


async def page(
    session: AsyncSession, project_id: int, kind: str | None, *, limit: int | None, offset: int
) -> Sequence[IntegrationRow]:
    """One page of a list, oldest first."""
    statement = select(IntegrationRow).where(*_listed(project_id, kind))
    ordered = statement.order_by(IntegrationRow.id).limit(limit).offset(offset)
    return (await session.scalars(ordered)).all()


async def by_ids(
    session: AsyncSession, project_id: int, ids: Collection[int]
) -> dict[int, IntegrationRow]:
    """Integrations of the project with these ids."""
    statement = select(IntegrationRow).where(
        IntegrationRow.project_id == project_id, IntegrationRow.id.in_(ids)
    )
    return {row.id: row for row in await session.scalars(statement)}


async def by_placeholders(
    session: AsyncSession, project_id: int, placeholders: Collection[str]
) -> Sequence[IntegrationRow]:
    """Integrations of the project with these placeholders."""
    statement = select(IntegrationRow).where(
        IntegrationRow.project_id == project_id, IntegrationRow.placeholder.in_(placeholders)
    )
    return (await session.scalars(statement)).all()


async def every(session: AsyncSession) -> Sequence[IntegrationRow]:
    """All integrations of all projects, locked for update."""
    return (await session.scalars(select(IntegrationRow).with_for_update())).all()


async def encrypted_texts(session: AsyncSession) -> list[str]:
    """The encrypted secrets of all integrations of all projects."""
    return [text for text in await session.scalars(select(IntegrationRow.secrets)) if text]


async def version_stamp(session: AsyncSession, project_id: int) -> str:
    """A text that changes whenever an integration of the project changes.

    Ids are never reused, so a deletion followed by a creation is noticed too.
    """
    columns = (func.count(), func.max(IntegrationRow.id), func.sum(IntegrationRow.version))
    statement = select(*columns).where(IntegrationRow.project_id == project_id)
    rows, newest, versions = (await session.execute(statement)).one()
    return f"{rows}.{newest or 0}.{versions or 0}"


def _listed(project_id: int, kind: str | None) -> list[ColumnElement[bool]]:
    conditions = [IntegrationRow.project_id == project_id]
    return (
        conditions
        if kind is None
        else [*conditions, IntegrationRow.kind == kind.replace("\x00", "")]
    )


type Known = Mapping[int, JsonObject]
"""Integration id to the object that programs see."""


async def resolve(
    session: AsyncSession, project_id: int, functions: Sequence[ExecutableFunction]
) -> list[ExecutableFunction]:
    """Functions with integrations resolved; queries the database only if they use some."""
    ids = {integration_id for function in functions for integration_id in integration_ids(function)}
    if not ids:
        return list(functions)
    rows = await by_ids(session, project_id, ids)
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
