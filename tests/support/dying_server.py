"""``hoglet`` that kills itself, or its broker, at a step of its work; started by tests.

``HOGLET_TEST_DIES`` is ``step:number`` or ``step:number:process``: at that call of the step, the
process gets SIGKILL; by default this one. :data:`STEPS`, :data:`BUILD_STEPS` and
:data:`COLUMN_STEPS` have the names.
"""

import functools
import importlib
import os
import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

VARIABLE = "HOGLET_TEST_DIES"
BEFORE, AFTER = "before", "after"


class Step(NamedTuple):
    """Where to die.

    Args:
        targets: ``module:Class.method`` or ``module:function``, all of them asynchronous.
        when: before the call or after it.
        counts_empty: whether calls that return nothing count.
    """

    targets: tuple[str, ...]
    when: str
    counts_empty: bool = True


_APPEND = ("hoglet.spool.rows:RowLog.append", "hoglet.spool.jetstream:JetStreamLog.append")
_BEGIN = (
    "hoglet.pipeline.ingest.spool_log.source:LogSource.begin",
    "hoglet.pipeline.ingest.sources:JobSource.begin",
)
_INSERT = ("hoglet.warehouse.clickhouse:ClickHouseWarehouse.insert_block",)
_ENQUEUE = ("hoglet.pipeline.ingest.commit:enqueue_runs",)
_COMMIT = ("hoglet.pipeline.ingest.commit:GroupCommitter.commit",)
_TRIM = ("hoglet.spool.rows:RowLog.trim", "hoglet.spool.jetstream:JetStreamLog.trim")
_DELIVER = ("hoglet.functions.runtime.host_calls:HostCalls.make",)
_COMPLETE = ("hoglet.pipeline.delivery.completion:CompletionBatcher._commit",)
_COPY = ("hoglet.warehouse.clickhouse:ClickHouseWarehouse.insert",)

STEPS = {
    "accepted, not answered": Step(_APPEND, AFTER),
    "range fixed": Step(_BEGIN, AFTER, counts_empty=False),
    "block processed": Step(_INSERT, BEFORE),
    "block inserted": Step(_INSERT, AFTER),
    "runs not enqueued": Step(_ENQUEUE, BEFORE),
    "runs enqueued, not committed": Step(_ENQUEUE, AFTER),
    "committed": Step(_COMMIT, AFTER),
    "not trimmed": Step(_TRIM, BEFORE),
    "trimmed": Step(_TRIM, AFTER),
    "not delivered": Step(_DELIVER, BEFORE),
    "delivered, not recorded": Step(_DELIVER, AFTER),
    "delivery recorded": Step(_COMPLETE, AFTER),
    "persons not copied": Step(_COPY, BEFORE),
    "persons copied": Step(_COPY, AFTER),
}
OF_THE_LOG = {"accepted, not answered", "not trimmed", "trimmed"}
"""Steps that jobs of the queue do not have."""
AFTER_THE_GROUP = {
    "not delivered", "delivered, not recorded", "delivery recorded",
    "persons not copied", "persons copied",
}  # fmt: skip
"""Steps behind the transaction that ends a group; the spool has no part in them."""

_TABLE = "hoglet.endpoints.materialization.hogql_table:HogqlTable."
_BUILDER = "hoglet.endpoints.materialization.builder:TableBuilder."
_COLUMNS = "hoglet.warehouse.text_columns:TextColumns."

BUILD_STEPS = {
    "build begun": Step((_BUILDER + "_start",), AFTER, counts_empty=False),
    "table not created": Step((_TABLE + "_create",), BEFORE),
    "table created": Step((_TABLE + "_create",), AFTER),
    "rows not copied": Step((_TABLE + "_copy",), BEFORE),
    "rows copied": Step((_TABLE + "_copy",), AFTER),
    "rows inserted": Step((_TABLE + "_insert",), AFTER),
    "tables not swapped": Step((_BUILDER + "_finish",), BEFORE),
    "tables swapped, not committed": Step((_BUILDER + "_drop_later",), AFTER),
    "tables swapped": Step((_BUILDER + "_finish",), AFTER),
    "old table not dropped": Step((_BUILDER + "drop",), BEFORE),
    "old table dropped": Step((_BUILDER + "drop",), AFTER),
}
"""Steps of an incremental build of an endpoint's table."""
COLUMN_STEPS = {
    "column not added": Step((_COLUMNS + "add",), BEFORE),
    "column added": Step((_COLUMNS + "add",), AFTER),
    "column not filled": Step((_COLUMNS + "begin_fill",), BEFORE),
    "column being filled": Step((_COLUMNS + "begin_fill",), AFTER),
}
"""Steps of adding a column for a property of events."""


class _Death:
    def __init__(self, number: int, process: int) -> None:
        self._left = number
        self._process = process

    def count(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(self._process, signal.SIGKILL)


def _dying(work: Callable[..., Any], step: Step, death: _Death) -> Callable[..., Any]:
    @functools.wraps(work)
    async def called(*arguments: Any, **more: Any) -> Any:
        if step.when == BEFORE:
            death.count()
        result = await work(*arguments, **more)
        if step.when == AFTER and (step.counts_empty or result):
            death.count()
        return result

    return called


def _install(text: str) -> None:
    name, number, *process = text.split(":")
    step = (STEPS | BUILD_STEPS | COLUMN_STEPS)[name]
    death = _Death(int(number), int(process[0]) if process else os.getpid())
    for target in step.targets:
        module, path = target.split(":")
        *parents, method = path.split(".")
        owner = functools.reduce(getattr, parents, importlib.import_module(module))
        setattr(owner, method, _dying(getattr(owner, method), step, death))


def _hurry() -> None:
    """Shorten what tests wait for at each step, and do for few events what takes many."""
    from hoglet.definitions import text_columns
    from hoglet.endpoints import jobs
    from hoglet.endpoints.materialization import builder, scheduler
    from hoglet.queue import owners as job_owners
    from hoglet.spool import owners

    owners.HEARTBEAT = job_owners.HEARTBEAT = timedelta(seconds=1)
    owners.SILENT_AFTER = job_owners.SILENT_AFTER = timedelta(seconds=4)
    scheduler.DROP_AFTER = timedelta(seconds=1)
    jobs.HOUSEKEEPING_SECONDS = 2
    builder.SWEPT_AFTER = timedelta(seconds=30)
    text_columns.LOOK_SECONDS = 0.5
    text_columns.MIN_EVENTS, text_columns.MIN_TEXTS = 100, 50
    text_columns.JUDGED_AGAIN = timedelta(seconds=1)


def _main() -> None:
    from hoglet.cli.entry import main

    _hurry()
    if os.environ.get(VARIABLE):
        _install(os.environ[VARIABLE])
    main()


if __name__ == "__main__":
    _main()
