"""Variables for saved queries: rules and statements.

Source: docs/spec/hog-functions.md#15-bootstrap-routes (insight_variables);
docs/spec/query-endpoints.md#52-variables.
"""

import math
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
import orjson
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import ProjectScope
from hoglet.access.schemas import NewVariable, VariableChanges, VariableType, code_name
from hoglet.access.tables import VariableRow
from hoglet.kit.clock import Clock, new_id
from hoglet.kit.errors import Invalid, NotFound
from hoglet.kit.json import is_array
from hoglet.kit.relative_dates import DateClock, NotADate, resolve_date

_TRUE = frozenset({"true", "1", "yes"})
_FALSE = frozenset({"false", "0", "no"})
_TEXT_LIMIT = 100_000
_ANY_DAY = DateClock(datetime(2026, 1, 1, tzinfo=UTC))
"""Used only to validate dates; the result does not depend on the day."""


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
    row = await _row(session, scope.project.id, variable_id)
    for name, value in body.model_dump(include=body.model_fields_set).items():
        setattr(row, name, value)
    if body.model_fields_set & {"type", "default_value"}:
        _check_default(row.name, row.default_value, row.type)
    await session.flush()
    return _variable(row)


async def delete_variable(session: AsyncSession, scope: ProjectScope, variable_id: str) -> None:
    """Delete a variable; saved queries keep the value they stored."""
    await session.delete(await _row(session, scope.project.id, variable_id))


def convert(name: str, value: Any, kind: str) -> Any:
    """Convert a value to the variable's type; JSON of another type is returned unchanged.

    Example:
        >>> convert("n", "5", "Number"), convert("l", "a,b", "List")
        (5, ['a', 'b'])
    """
    if isinstance(value, str):
        if len(value) > _TEXT_LIMIT:
            detail = f"The value of variable {name} is longer than {_TEXT_LIMIT} characters."
            raise Invalid(detail, attr="variables")
        return _from_text(name, value, kind)
    if value is None or isinstance(value, bool | int | float):
        return value
    if is_array(value) and all(_is_scalar(item) for item in value):
        return value
    raise _does_not_fit(name, value, kind)


def _from_text(name: str, text: str, kind: str) -> Any:
    match kind:
        case "Number":
            return _number(name, text)
        case "Boolean":
            return _boolean(name, text)
        case "List":
            return _list(text)
        case "Date":
            return _date(name, text)
        case _:
            return text


def _number(name: str, text: str) -> int | float:
    try:
        number = float(text)
        whole = int(text) if text.strip().lstrip("+-").isdecimal() else None
    except ValueError:
        raise _does_not_fit(name, text, "Number") from None
    if not math.isfinite(number):
        raise _does_not_fit(name, text, "Number")
    return number if whole is None else whole


def _boolean(name: str, text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise _does_not_fit(name, text, "Boolean")


def _list(text: str) -> list[Any]:
    """A JSON list, or comma-separated items."""
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        parsed = None
    if is_array(parsed) and all(_is_scalar(item) for item in parsed):
        return parsed
    return [item.strip() for item in text.split(",")] if text.strip() else []


def _date(name: str, text: str) -> str:
    """The date as text: the query determines whether it is a date or a timestamp."""
    try:
        resolve_date(text, _ANY_DAY)
    except NotADate:
        raise _does_not_fit(name, text, "Date") from None
    return text


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _does_not_fit(name: str, value: Any, kind: str) -> Invalid:
    if isinstance(value, str):
        detail = f'The value "{value}" of variable {name} is not a {kind}.'
    else:
        detail = f"The value of variable {name} is an object or a nested list, not a {kind}."
    return Invalid(detail, attr="variables")


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


async def _row(session: AsyncSession, project_id: int, variable_id: str) -> VariableRow:
    try:
        row = await session.get(VariableRow, UUID(variable_id))
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
