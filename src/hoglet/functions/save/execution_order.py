"""Limits and execution order of transformations.

Source: docs/spec/hog-functions.md#34-execution_order and
docs/spec/hog-functions.md#35-limits-and-effects.
"""

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions import repository, types
from hoglet.functions.save.plan import SavePlan
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.errors import Invalid


async def assign_execution_order(
    session: AsyncSession, row: HogFunctionRow, plan: SavePlan
) -> None:
    """Assign an execution order to a transformation, in the write transaction.

    Raises:
        Invalid: the maximum number is already enabled.
    """
    if plan.will_run and not plan.was_running:
        await _check_limit(session, row)
    if row.type in types.ORDERED and _moves_to_end(plan):
        revived = (
            row.id if plan.stored["deleted"] else None
        )  # its old position does not count as the end
        highest = await repository.highest_order(session, row.project_id, row.type, without=revived)
        row.execution_order = min(highest + 1, types.HIGHEST_ORDER)


async def _check_limit(session: AsyncSession, row: HogFunctionRow) -> None:
    limit = types.LIMITS.get(row.type)
    if limit is None:
        return
    others = await repository.count_enabled(session, row.project_id, row.type, without=row.id)
    if others >= limit:
        raise Invalid(
            f"There can be at most {limit} enabled transformations of this type. "
            "Disable one first.",
            attr="type",
        )


def _moves_to_end(plan: SavePlan) -> bool:
    if plan.is_new:
        return plan.values["execution_order"] is None
    if "execution_order" in plan.sent:
        return False
    revived = plan.stored["deleted"] and not plan.values["deleted"]
    return revived or (plan.values["enabled"] and not plan.stored["enabled"])
