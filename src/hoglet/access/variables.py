"""Variables for saved queries: rules and statements.

Source: docs/spec/hog-functions.md#15-bootstrap-routes (insight_variables);
docs/spec/query-endpoints.md#52-variables.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import ProjectScope
from hoglet.access.schemas import NewVariable, VariableChanges, VariableType, code_name
from hoglet.access.tables import VariableRow
from hoglet.access.variable_values import convert
from hoglet.kit.clock import Clock, new_id
from hoglet.kit.errors import Invalid, NotFound


class InsightVariable(msgspec.Struct, frozen=True):
    """One variable; queries use ``{variables.<code_name>}``."""

    id: UUID
    name: str
    code_name: str
    type: VariableType
    default_value: Any
    values: list[Any] | None
    is_multi: bool
    created_by_id: int | None
    created_at: datetime


async def list_variables(
    session: AsyncSession, project_id: int, *, limit: int | None = None, offset: int = 0
) -> list[InsightVariable]:
    """The variables of a project, oldest first."""
    statement = (
        select(VariableRow)
        .where(VariableRow.project_id == project_id)
        .order_by(VariableRow.created_at, VariableRow.id)
        .limit(limit)
        .offset(offset)
    )
    return [_variable(row) for row in await session.scalars(statement)]


async def count_variables(session: AsyncSession, project_id: int) -> int:
    """Number of variables of a project."""
    statement = select(func.count()).where(VariableRow.project_id == project_id)
    return await session.scalar(statement) or 0


async def get_variable(session: AsyncSession, project_id: int, variable_id: str) -> InsightVariable:
    """One variable.

    Raises:
        NotFound: no such variable in this project.
    """
    return _variable(await _row(session, project_id, variable_id))


async def create_variable(
    session: AsyncSession, clock: Clock, scope: ProjectScope, body: NewVariable
) -> InsightVariable:
    """Create a variable.

    Raises:
        Invalid: its code name is empty, another variable has the same one, or the default value
            does not fit the type.
    """
    _check_default(body.name, body.default_value, body.type)
    code = code_name(body.name)
    if not code:
        raise Invalid("The name must contain at least one letter or digit.", attr="name")
    await _refuse_duplicate(session, scope.project.id, code)
    row = VariableRow(
        id=new_id(),
        project_id=scope.project.id,
        name=body.name,
        code_name=code,
        type=body.type,
        default_value=body.default_value,
        values=body.values,
        is_multi=body.is_multi,
        created_by_id=scope.user_id,
        created_at=clock.now(),
    )
    session.add(row)
    try:
        await session.flush()
    except IntegrityError:  # another request created it between the check and the insert
        raise _duplicate(body.name, code) from None
    return _variable(row)


async def change_variable(
    session: AsyncSession, scope: ProjectScope, variable_id: str, body: VariableChanges
) -> InsightVariable:
    """Change the given fields; the code name is fixed, because saved queries refer to it.

    Raises:
        Invalid: the default value does not fit the type.
    """
    row = await _row(session, scope.project.id, variable_id, lock=True)
    for name, value in body.model_dump(include=body.model_fields_set).items():
        setattr(row, name, value)
    if body.model_fields_set & {"type", "default_value"}:
        _check_default(row.name, row.default_value, row.type)
    await session.flush()
    return _variable(row)


async def delete_variable(session: AsyncSession, scope: ProjectScope, variable_id: str) -> None:
    """Delete a variable; saved queries keep the value they stored."""
    await session.delete(await _row(session, scope.project.id, variable_id, lock=True))


def _check_default(name: str, value: Any, kind: VariableType) -> None:
    """Refuse a default value with which every run would fail.

    PostHog stores an empty text for "no default", so projects that are moved may have one.
    """
    try:
        if value != "":
            convert(name, value, kind)
    except Invalid as error:
        error.attr = "default_value"
        raise


async def _row(
    session: AsyncSession, project_id: int, variable_id: str, *, lock: bool = False
) -> VariableRow:
    try:
        row = await session.get(VariableRow, UUID(variable_id), with_for_update=lock)
    except ValueError:
        row = None
    if row is None or row.project_id != project_id:
        raise NotFound
    return row


async def _refuse_duplicate(session: AsyncSession, project_id: int, code: str) -> None:
    taken = select(VariableRow.name).where(
        VariableRow.project_id == project_id, VariableRow.code_name == code
    )
    name = await session.scalar(taken)
    if name is not None:
        raise _duplicate(name, code)


def _duplicate(name: str, code: str) -> Invalid:
    return Invalid(f'A variable named "{name}" ({code}) exists already.')


def _variable(row: VariableRow) -> InsightVariable:
    return InsightVariable(
        id=row.id,
        name=row.name,
        code_name=row.code_name,
        type=row.type,
        default_value=row.default_value,
        values=row.values,
        is_multi=row.is_multi,
        created_by_id=row.created_by_id,
        created_at=row.created_at,
    )
