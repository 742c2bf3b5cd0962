"""The watcher: derives the state of functions from their runs, and provides ``status``.

The pipeline calls :meth:`Watcher.observe` with batches of results, in its own transaction.

Source: docs/spec/hog-functions.md#7-status-and-the-watcher.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

import msgspec
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, ActivityLog, FieldChange
from hoglet.functions.response_schemas import Status
from hoglet.functions.tables import HogFunctionRow, WatcherRow
from hoglet.functions.types import WatcherState
from hoglet.functions.watcher.rules import (
    DISABLED,
    FORCED_DISABLED,
    NOT_RUN,
    OFF,
    Bucket,
    TimingKind,
    WatcherSettings,
    count_run,
    lock_end,
    next_state,
    refilled,
    run_cost,
)
from hoglet.kit.clock import Clock


class RunObservation(msgspec.Struct, frozen=True, kw_only=True):
    """Finished runs of a function with the same outcome and timings.

    Attributes:
        function_id: the function.
        failed: whether the runs failed.
        timings: the timings of each run, ``[("hog", 12.5), ("async", 840.0)]`` in milliseconds.
        runs: number of runs.
    """

    function_id: UUID
    failed: bool
    timings: list[tuple[TimingKind, float]] = []
    runs: int = 1


class StateChange(msgspec.Struct, frozen=True, kw_only=True):
    """A changed state of a function; listeners emit ``$hog_function_state_changed``."""

    project_id: int
    function_id: UUID
    name: str | None
    before: int
    after: int


type Listener = Callable[[AsyncSession, StateChange], Awaitable[None]]


class Watcher:
    """Maintains the states of functions.

    Args:
        clock: the current time.
        activity: receives an entry when a function is disabled.
        settings: thresholds, see docs/spec/hog-functions.md#7-status-and-the-watcher.

    Attributes:
        listeners: called for each change, in its transaction.
    """

    def __init__(
        self, clock: Clock, activity: ActivityLog, settings: WatcherSettings | None = None
    ) -> None:
        self.listeners: list[Listener] = []
        self._clock = clock
        self._activity = activity
        self.settings = settings or WatcherSettings()

    async def observe(
        self, session: AsyncSession, observations: Sequence[RunObservation]
    ) -> list[StateChange]:
        """Charge the buckets of the functions that ran, and change states where due."""
        by_function: dict[UUID, list[RunObservation]] = {}
        for observation in observations:
            by_function.setdefault(observation.function_id, []).append(observation)
        live = await _live(session, by_function)
        changes: list[StateChange] = []
        for function_id, batch in by_function.items():
            if function_id in live:
                function, data = live[function_id]
                change = await self._observe_one(session, function, data, batch)
                changes.extend([change] if change else [])
        return changes

    async def force(
        self, session: AsyncSession, function: HogFunctionRow, state: int
    ) -> StateChange | None:
        """Set a state manually (administrators: 11, 12, or 1 to release)."""
        return await self._change(session, function, state)

    async def reset_after_manual_enable(
        self, session: AsyncSession, function: HogFunctionRow, state: int
    ) -> None:
        """Reset and lock the state after the owner enabled a disabled function."""
        function.state = state
        data = await self._data(session, function)
        data.locked_until = lock_end(self._clock.now(), self.settings)

    async def statuses(
        self, session: AsyncSession, functions: Iterable[HogFunctionRow]
    ) -> dict[UUID, Status]:
        """``{"state", "tokens"}`` by function id, without side effects."""
        rows = list(functions)
        data = await _data_of(session, [row.id for row in rows])
        now = self._clock.now()
        return {row.id: self._status(row, data.get(row.id), now) for row in rows}

    def _status(self, function: HogFunctionRow, data: WatcherRow | None, now: datetime) -> Status:
        if not function.enabled and function.state not in NOT_RUN:
            return {"state": OFF, "tokens": 0}
        tokens: float = self.settings.capacity
        if data is not None:
            tokens = refilled(Bucket(data.tokens, data.tokens_at), now, self.settings)
        return {"state": cast("WatcherState", function.state), "tokens": int(tokens)}

    async def _observe_one(
        self,
        session: AsyncSession,
        function: HogFunctionRow,
        data: WatcherRow | None,
        batch: list[RunObservation],
    ) -> StateChange | None:
        now, settings = self._clock.now(), self.settings
        data = data or await self._data(session, function)
        cost = sum(run_cost(each.timings, settings) * each.runs for each in batch)
        data.tokens = refilled(Bucket(data.tokens, data.tokens_at), now, settings) - cost
        data.tokens_at = now
        finished = sum(each.runs for each in batch)
        failed = sum(each.runs for each in batch if each.failed)
        data.recent = count_run(
            data.recent, now, finished=finished, failed=failed, settings=settings
        )
        if not function.enabled:
            return None
        state = next_state(
            function.state,
            tokens=data.tokens,
            recent=data.recent,
            now=now,
            locked_until=data.locked_until,
            settings=settings,
        )
        if state == function.state:
            return None
        data.locked_until = lock_end(now, settings)
        return await self._change(session, function, state)

    async def _change(
        self, session: AsyncSession, function: HogFunctionRow, state: int
    ) -> StateChange | None:
        if function.state == state:
            return None
        before, function.state = function.state, state
        function.version += 1
        if state in (DISABLED, FORCED_DISABLED):
            await self._switch_off(session, function)
        change = StateChange(
            project_id=function.project_id,
            function_id=function.id,
            name=function.name,
            before=before,
            after=state,
        )
        for listener in self.listeners:
            await listener(session, change)
        return change

    async def _switch_off(self, session: AsyncSession, function: HogFunctionRow) -> None:
        was_enabled, function.enabled = function.enabled, False
        if was_enabled:
            await self._activity.record(
                session,
                Activity(
                    project_id=function.project_id,
                    user_id=None,
                    activity="updated",
                    scope="HogFunction",
                    item_id=str(function.id),
                    name=function.name,
                    changes=[FieldChange("enabled", "changed", True, False)],
                ),
            )

    async def _data(self, session: AsyncSession, function: HogFunctionRow) -> WatcherRow:
        watched = await session.get(WatcherRow, function.id)
        if watched is None:
            watched = WatcherRow(
                function_id=function.id,
                tokens=self.settings.capacity,
                tokens_at=self._clock.now(),
                locked_until=None,
                recent={},
            )
            session.add(watched)
        return watched


async def _live(
    session: AsyncSession, ids: Iterable[UUID]
) -> dict[UUID, tuple[HogFunctionRow, WatcherRow | None]]:
    """Functions with watcher rows; locked in a fixed order, so that executors take turns."""
    id_list = list(ids)
    functions = await session.scalars(
        select(HogFunctionRow)
        .where(HogFunctionRow.id.in_(id_list))
        .order_by(HogFunctionRow.id)
        .with_for_update(key_share=True)
    )
    data = await _data_of(session, id_list)
    return {row.id: (row, data.get(row.id)) for row in functions}


async def _data_of(session: AsyncSession, ids: Sequence[UUID]) -> dict[UUID, WatcherRow]:
    rows: Any = await session.scalars(select(WatcherRow).where(WatcherRow.function_id.in_(ids)))
    return {row.function_id: row for row in rows}
