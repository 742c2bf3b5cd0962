"""Creates, reads, updates, lists and rearranges functions.

A save reads, plans, compiles in a worker, then writes in one transaction, and starts over if the
function was changed in the meantime. Compiling can take seconds, so it happens outside of the
transaction.

Source: docs/spec/hog-functions.md#2-the-function-object,
docs/spec/hog-functions.md#3-writing-rows-2-and-4,
docs/spec/hog-functions.md#7-status-and-the-watcher and docs/spec/hog-functions.md#97-rearrange.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID
from weakref import WeakValueDictionary

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, ActivityLog, FieldChange, changes_between
from hoglet.access.principals import ProjectScope
from hoglet.access.repository import users_by_id
from hoglet.functions import repository, types
from hoglet.functions.compile.messages import CompiledFunction
from hoglet.functions.history.secrets import (
    hide,
    hide_in_history,
    may_become_secret,
)
from hoglet.functions.json_types import LoggedFields, SentFields
from hoglet.functions.listing import Listing, choose
from hoglet.functions.loader import FunctionLoader
from hoglet.functions.presenter import FunctionPresenter, FunctionView
from hoglet.functions.save.execution_order import assign_execution_order, one_type, read_orders
from hoglet.functions.save.plan import SavePlan
from hoglet.functions.save.planner import CompileEnvironment, SavePlanner
from hoglet.functions.schemas import read_fields
from hoglet.functions.secrets.box import SecretBox
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.watcher.rules import DEGRADED, DISABLED, HEALTHY, OFF
from hoglet.functions.watcher.service import Watcher
from hoglet.kit.clock import Clock, new_id
from hoglet.kit.errors import NotFound, Stale, Unavailable
from hoglet.kit.json import JsonObject
from hoglet.store.database import Database
from hoglet.web.pagination import PageRequest

log = structlog.get_logger(__name__)

ACTIVITY_SCOPE = "HogFunction"
LOGGED_FIELDS = (
    "name",
    "description",
    "enabled",
    "deleted",
    "hog",
    "inputs_schema",
    "inputs",
    "filters",
    "masking",
    "mappings",
    "icon_url",
    "execution_order",
    "retry",
    "delivery",
)
_MASKED = "masked"
# One save of a transformation at a time: positions and the limit depend on all of them.
_ORDER_LOCK = 7_226_316  # an arbitrary constant that nothing else in the database locks
_SAVE_ATTEMPTS = 5  # other processes write it too; more conflicts mean something is wrong


class FunctionService:
    """The functions of all projects.

    Args:
        environment: what functions are compiled with.
        database: stores them.
        box: encrypts secrets.
        clock: the current time.
        activity: gets an entry for every save.
        watcher: provides and changes states.
    """

    def __init__(
        self,
        environment: CompileEnvironment,
        *,
        database: Database,
        box: SecretBox,
        clock: Clock,
        activity: ActivityLog,
        watcher: Watcher,
    ) -> None:
        self.database = database
        self.box = box
        self.clock = clock
        self.templates = environment.templates
        self.activity = activity
        self.watcher = watcher
        self._saves = WeakValueDictionary[UUID, asyncio.Lock]()  # one save of a function at a time
        self.loader = FunctionLoader(database, box, environment.host_config)
        self.presenter = FunctionPresenter(box, environment.templates, watcher)
        self.planner = SavePlanner(environment, database=database, box=box, clock=clock)

    async def create(self, scope: ProjectScope, body: JsonObject) -> FunctionView:
        """Create a function.

        Raises:
            Invalid: the first error in the body.
        """
        plan = self.planner.new(body)
        plan.check_running()
        compiled = await self.planner.compile(scope.project, plan)
        async with self.database.write() as session:
            row = HogFunctionRow(id=new_id(), project_id=scope.project.id, version=1)
            self.planner.fill(row, plan.apply(compiled, {}))
            row.created_at = row.updated_at = self.clock.now()
            row.created_by = scope.user_id
            row.state = HEALTHY
            if row.type in types.ORDERED:
                await self.database.serialize(session, _ORDER_LOCK)
                await assign_execution_order(session, row, plan)
            session.add(row)
            await session.flush()
            await self.record(session, scope, row, "created", [])
            view = await self.presenter.view(session, row)
            return view._replace(warnings=compiled.warnings)

    async def get(self, scope: ProjectScope, function_id: str) -> FunctionView:
        """Get a live function.

        Raises:
            NotFound: no such function in the project.
        """
        async with self.database.read() as session:
            row = await self.row(session, scope.project.id, function_id)
            return await self.presenter.view(session, row)

    async def row(
        self, session: AsyncSession, project_id: int, function_id: str, *, lock: bool = False
    ) -> HogFunctionRow:
        """The stored row of a live function with a type that the API supports.

        ``lock`` locks it until the transaction ends.

        Raises:
            NotFound: no such function in the project.
        """
        row = await repository.find(session, project_id, read_id(function_id), lock=lock)
        if row is None or row.type == types.WAREHOUSE_SOURCE_WEBHOOK:
            raise NotFound
        return row

    async def update(self, scope: ProjectScope, function_id: str, body: JsonObject) -> FunctionView:
        """Update a function; omitted fields stay as they are.

        Raises:
            NotFound: no such function in the project, or a deleted one that the body does not
                restore.
            Stale: it changed after ``base_updated_at``.
            Invalid: the first error in the body.
        """
        row_id = read_id(function_id)
        async with self._saves.setdefault(row_id, asyncio.Lock()):
            for _ in range(_SAVE_ATTEMPTS):
                visible = await self._try_update(scope, row_id, body)
                if visible is not None:
                    return visible
        raise Unavailable("This function is being changed by another request. Try again.")

    async def page(
        self, scope: ProjectScope, listing: Listing, page: PageRequest
    ) -> tuple[int, Sequence[FunctionView]]:
        """A page of functions and the total count."""
        project_id = scope.project.id
        async with self.database.read() as session:
            if not listing.needs_summaries:
                total = await repository.count(session, project_id, listing.filters)
                rows = await repository.page(
                    session, project_id, listing.filters, limit=page.limit, offset=page.offset
                )
                return total, await self.presenter.all(session, rows)
            summaries = await repository.summaries(session, project_id, listing.filters)
            chosen = choose(listing, summaries)
            end = None if page.limit is None else page.offset + page.limit
            part = dict(chosen[page.offset : end])
            rows = await repository.by_ids(session, project_id, list(part))
            view = await self.presenter.all(session, rows)
            return len(chosen), [
                item._replace(search_match_type=part[item.row.id]) for item in view
            ]

    async def knows_user(self, user_id: int) -> bool:
        """Whether a user with this id exists."""
        async with self.database.read() as session:
            return bool(await users_by_id(session, [user_id]))

    async def rearrange(self, scope: ProjectScope, orders: Any) -> Sequence[FunctionView]:
        """Change the execution order of several transformations of one type, all or none.

        Raises:
            Invalid: no orders, an unknown id, mixed types, or a value out of range.
        """
        positions = read_orders(orders)
        async with self.database.write() as session:
            await self.database.serialize(session, _ORDER_LOCK)
            rows = await repository.by_ids(session, scope.project.id, list(positions), lock=True)
            kind = one_type(rows, positions)
            for row in rows:
                await self._move(session, scope, row, positions[row.id])
            await session.flush()
            ordered = await repository.live_of_type(session, scope.project.id, kind)
            return await self.presenter.all(session, ordered)

    async def publish(
        self, scope: ProjectScope, row: HogFunctionRow, fields: SentFields
    ) -> FunctionView | None:
        """Replace live fields by those of the draft; None if function or draft changed since.

        Raises:
            Invalid: the fields violate a current rule.
        """
        self.planner.check_stored(row)
        plan = self.planner.change(row, fields)
        plan.check_running()
        compiled = await self.planner.compile(scope.project, plan)
        return await self._write_update(scope, row, plan, compiled, publishes=True)

    async def _try_update(
        self, scope: ProjectScope, function_id: UUID, body: JsonObject
    ) -> FunctionView | None:
        async with self.database.read() as session:
            row = await repository.find(
                session, scope.project.id, function_id, deleted=_restores(body)
            )
        if row is None:
            raise NotFound
        self.planner.check_stored(row)
        sent = read_fields(body)
        sent.pop("template_id", None)
        _check_base(row, sent.pop("base_updated_at", None))
        plan = self.planner.change(row, sent)
        plan.check_running()
        compiled = await self.planner.compile(scope.project, plan)
        return await self._write_update(scope, row, plan, compiled)

    async def _write_update(
        self,
        scope: ProjectScope,
        seen: HogFunctionRow,
        plan: SavePlan,
        compiled: CompiledFunction,
        *,
        publishes: bool = False,
    ) -> FunctionView | None:
        """Store an update; None if the function was changed since it was read."""
        async with self.database.write() as session:
            if seen.type in types.ORDERED:  # before the row, as a rearrangement does
                await self.database.serialize(session, _ORDER_LOCK)
            row = await repository.find(session, scope.project.id, seen.id, deleted=None, lock=True)
            if row is None or row.version != seen.version:
                return None
            if publishes and row.draft_updated_at != seen.draft_updated_at:
                return None
            before = _logged(row)
            encrypted = (row.secrets, row.mapping_secrets)
            await self._settle_state(session, row, plan)
            self.planner.fill(row, plan.apply(compiled, row.matcher))
            if row.type in types.ORDERED:
                await assign_execution_order(session, row, plan)
            row.updated_at = max(self.clock.now(), row.updated_at)
            row.version += 1
            changes = await self._hidden(session, row, before)
            if encrypted != (row.secrets, row.mapping_secrets):
                changes.append(FieldChange("encrypted_inputs", "changed", _MASKED, _MASKED))
            if publishes:
                row.draft = row.draft_updated_at = None
            await session.flush()
            activity = "published" if publishes else "updated"
            await self.record(session, scope, row, activity, changes)
            view = await self.presenter.view(session, row)
            return view._replace(warnings=compiled.warnings)

    async def _hidden(
        self, session: AsyncSession, row: HogFunctionRow, before: LoggedFields
    ) -> list[FieldChange]:
        """The changes of a save, without secrets.

        Values of new secret keys are removed from the history.
        """
        after = _logged(row)
        if may_become_secret(before, after):
            item_id = str(row.id)
            await hide_in_history(session, row.project_id, ACTIVITY_SCOPE, item_id, after)
        return hide(changes_between(before, after), before, after)

    async def _settle_state(
        self, session: AsyncSession, row: HogFunctionRow, plan: SavePlan
    ) -> None:
        """Update the watcher's state when the owner enables or disables the function."""
        enabled = plan.sent.get("enabled")
        if enabled and row.state == DISABLED:
            await self.watcher.reset_after_manual_enable(session, row, DEGRADED)
        elif enabled is False and row.state == DISABLED:
            row.state = OFF
        elif enabled and row.state == OFF:
            row.state = HEALTHY

    async def _move(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        row: HogFunctionRow,
        execution_order: int,
    ) -> None:
        if row.execution_order == execution_order:
            return
        change = FieldChange("priority", "changed", row.execution_order, execution_order)
        row.execution_order = execution_order
        row.updated_at = max(self.clock.now(), row.updated_at)
        row.version += 1
        await self.record(session, scope, row, "updated", [change])

    async def record(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        row: HogFunctionRow,
        activity: str,
        changes: Sequence[FieldChange],
    ) -> None:
        """Write an activity entry of a function."""
        entry = Activity.by(scope, activity, ACTIVITY_SCOPE, (row.id, row.name), changes)
        await self.activity.record(session, entry)


def read_id(text: str) -> UUID:
    """Parse a function id.

    Raises:
        NotFound: not a UUID.
    """
    try:
        return UUID(text)
    except ValueError:
        raise NotFound from None


def _logged(row: HogFunctionRow) -> LoggedFields:
    return cast("LoggedFields", {name: getattr(row, name) for name in LOGGED_FIELDS})


def _restores(body: JsonObject) -> bool | None:
    """Only the JSON boolean ``deleted: false`` restores a deleted function."""
    return None if body.get("deleted") is False else False


def _check_base(row: HogFunctionRow, base: Any) -> None:
    if base is None:
        return
    known = base if base.tzinfo else base.replace(tzinfo=row.updated_at.tzinfo)
    if row.updated_at > known:
        raise Stale("This function was changed after you loaded it. Load it again.")
