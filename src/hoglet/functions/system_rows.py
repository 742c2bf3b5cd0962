"""Rows of ``system.hog_functions``, ``system.actions`` and ``system.integrations``.

None of them contains source code, inputs or credentials.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.functions import types
from hoglet.functions.integrations.schemas import without_credentials
from hoglet.functions.tables import ActionRow, HogFunctionRow, IntegrationRow
from hoglet.kit.json import JsonObject, is_object

type Row = dict[str, Any]

_FUNCTION_COLUMNS = (
    "id",
    "name",
    "description",
    "type",
    "enabled",
    "deleted",
    "icon_url",
    "template_id",
    "execution_order",
    "inputs_schema",
    "filters",
    "created_at",
    "updated_at",
)


async def hog_functions(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The functions of the project, including deleted ones, oldest first."""
    row = HogFunctionRow
    statement = select(*[getattr(row, name) for name in _FUNCTION_COLUMNS]).where(
        row.project_id == project.id, row.type != types.WAREHOUSE_SOURCE_WEBHOOK
    )
    rows = await session.execute(statement.order_by(row.created_at, row.id).limit(limit))
    return [dict(zip(_FUNCTION_COLUMNS, each, strict=True)) for each in rows]


async def actions(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The actions of the project, including deleted ones."""
    statement = select(ActionRow).where(ActionRow.project_id == project.id)
    return [
        {
            "id": row.id,
            "name": row.name,
            "description": row.description,
            "deleted": row.deleted,
            "steps_json": row.steps,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
        }
        for row in await session.scalars(statement.order_by(ActionRow.id).limit(limit))
    ]


class IntegrationRows:
    """Rows of ``system.integrations``; ``error_of`` reports problems of stored ones."""

    def __init__(self, error_of: Callable[[IntegrationRow], str]) -> None:
        self._error_of = error_of

    async def __call__(self, session: AsyncSession, project: Project, limit: int) -> list[Row]:
        """The integrations of the project."""
        statement = select(IntegrationRow).where(IntegrationRow.project_id == project.id)
        rows = await session.scalars(statement.order_by(IntegrationRow.id).limit(limit))
        return [self._row(row) for row in rows]

    def _row(self, row: IntegrationRow) -> Row:
        return {
            "id": row.id,
            "kind": row.kind,
            "integration_id": _account(row.config),
            "config": without_credentials(row.config),
            "errors": self._error_of(row),
            "created_at": row.created_at,
            "created_by_id": row.created_by,
        }


def _account(config: JsonObject) -> str | None:
    """The service's own account id, if the config has it."""
    team = config.get("team")
    nested = team.get("id") if is_object(team) else None
    candidates = (config.get("integration_id"), config.get("id"), nested)
    return next((str(each) for each in candidates if isinstance(each, str | int) and each), None)
