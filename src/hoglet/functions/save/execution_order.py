"""Limits and execution order of transformations.

Source: docs/spec/hog-functions.md#34-execution_order,
docs/spec/hog-functions.md#35-limits-and-effects and
docs/spec/hog-functions.md#97-rearrange.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions import repository, types
from hoglet.functions.save.plan import SavePlan
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.errors import Invalid
from hoglet.kit.json import is_object


def read_orders(orders: Any) -> dict[UUID, int]:
    """Parse the ``orders`` of a rearrangement.

    Raises:
        Invalid: none given, an id that is not a UUID, or a position outside 0..32767.
    """
    if not is_object(orders) or not orders:
        raise Invalid("At least one order is required.")
    requested: dict[UUID, int] = {}
    for key, position in orders.items():
        attr = f"orders__{key}"
        if isinstance(position, bool) or not isinstance(position, int):
            raise Invalid("A valid integer is required.", attr=attr)
        if position < 0:
            detail = "Ensure this value is greater than or equal to 0."
            raise Invalid(detail, code="min_value", attr=attr)
        if position > types.MAX_EXECUTION_ORDER:
            detail = f"Ensure this value is less than or equal to {types.MAX_EXECUTION_ORDER}."
            raise Invalid(detail, code="max_value", attr=attr)
        try:
            requested[UUID(key)] = position
        except ValueError:
            raise _not_a_transformation(key) from None
    return requested


def one_type(rows: Sequence[HogFunctionRow], requested: dict[UUID, int]) -> str:
    """The common type of the functions to move.

    Raises:
        Invalid: an id is not a live transformation, or the types differ.
    """
    known = {row.id: row.type for row in rows if row.type in types.ORDERED}
    for item in requested:
        if item not in known:
            raise _not_a_transformation(str(item))
    kinds = set(known.values())
    if len(kinds) != 1:
        raise Invalid("All functions of a rearrangement must have the same type.")
    return kinds.pop()


def _not_a_transformation(name: str) -> Invalid:
    return Invalid(f"{name} is not a live transformation of this project.")


async def assign_execution_order(
    session: AsyncSession, row: HogFunctionRow, plan: SavePlan
) -> None:
    """Assign an execution order to a transformation, in the write transaction.

    Raises:
        Invalid: the maximum number is already enabled.
    """
    if plan.will_run and not plan.was_running:
        await _check_limit(session, row)
    if _moves_to_end(plan):
        # The old position of a restored one does not count as the end.
        restored = row.id if plan.stored["deleted"] else None
        highest = await repository.highest_order(
            session, row.project_id, row.type, without=restored
        )
        row.execution_order = min(highest + 1, types.MAX_EXECUTION_ORDER)


async def _check_limit(session: AsyncSession, row: HogFunctionRow) -> None:
    limit = types.LIMITS[row.type]
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
    is_restored = plan.stored["deleted"] and not plan.values["deleted"]
    return is_restored or (plan.values["enabled"] and not plan.stored["enabled"])
