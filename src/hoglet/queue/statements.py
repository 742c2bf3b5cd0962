"""The statements that lease jobs, built once: building one costs more than executing it.

Their parameters are ``queue``, ``owner``, ``now``, ``lanes``, ``most`` and ``ordering_key``.
"""

from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    String,
    Table,
    bindparam,
    func,
    or_,
    select,
    update,
)

from hoglet.queue.port import Priority
from hoglet.queue.tables import JobRow
from hoglet.store.base import UtcDateTime

_QUEUE = bindparam("queue", type_=String())
_OWNER = bindparam("owner", type_=String())
_NOW = bindparam("now", type_=UtcDateTime())
_MOST = bindparam("most", type_=Integer())
_LANES = bindparam("lanes", expanding=True, type_=String())
_KEY = bindparam("ordering_key", type_=String())

JOBS = cast("Table", JobRow.__table__)
# Neither SQLite nor PostgreSQL reads the payload to get its length.
_SIZE = func.length(JOBS.c.payload).label("size")
JOB_COLUMNS: tuple[Any, ...] = (
    JOBS.c.id,
    JOBS.c.queue,
    JOBS.c.payload,
    JOBS.c.attempts,
    JOBS.c.retries,
    JOBS.c.priority,
    JOBS.c.ordering_key,
    JOBS.c.weight,
    JOBS.c.lane,
    JOBS.c.run_at,
    JOBS.c.enqueued_at,
    JOBS.c.lease,
    JOBS.c.group_id,
)  # in the order of the fields of `Job`


def is_due(now: Any = _NOW) -> ColumnElement[bool]:
    """Jobs that can be leased."""
    unleased = JOBS.c.leased_until.is_(None) | (JOBS.c.leased_until <= now)
    return (JOBS.c.run_at <= now) & unleased & JOBS.c.buried_at.is_(None)


def _due(priority: Priority, *conditions: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Due jobs as ``(id, weight, group_id, ordering_key, size)``.

    One statement per priority: each is a single index range, however many retries are delayed.
    """
    other = select(JOBS.c.ordering_key).where(
        JOBS.c.queue == _QUEUE,
        JOBS.c.leased_until > _NOW,
        JOBS.c.lease_owner != _OWNER,
        JOBS.c.ordering_key.is_not(None),
    )
    free_key = JOBS.c.ordering_key.is_(None) | JOBS.c.ordering_key.not_in(other)
    return (
        select(JOBS.c.id, JOBS.c.weight, JOBS.c.group_id, JOBS.c.ordering_key, _SIZE)
        .where(JOBS.c.queue == _QUEUE, JOBS.c.priority == int(priority), is_due(), free_key)
        .where(*conditions)
        .order_by(JOBS.c.run_at, JOBS.c.id)
    )


_free_lane = JOBS.c.lane.is_(None) | JOBS.c.lane.not_in(_LANES)
_same_key = JOBS.c.ordering_key.is_not_distinct_from(_KEY) & JOBS.c.group_id.is_(None)


class Statements:
    """The statements of one dialect.

    Args:
        locking: skip rows locked by others (PostgreSQL).
    """

    def __init__(self, *, locking: bool) -> None:
        due = [_due(priority, _free_lane) for priority in Priority]
        of_key = [_due(priority, _same_key) for priority in Priority]
        self.anything_due = select(or_(*[item.exists() for item in due]))
        self.due = [_limited(item, locking=locking) for item in due]
        self.due_of_key = [_limited(item, locking=locking) for item in of_key]

    take = (
        update(JOBS)
        .where(JOBS.c.id.in_(bindparam("ids", expanding=True)))
        .values(
            lease=bindparam("new_lease"),
            leased_until=bindparam("until"),
            lease_owner=_OWNER,
            attempts=JOBS.c.attempts + 1,
        )
        .returning(*JOB_COLUMNS)
    )
    take_as_group = take.values(group_id=bindparam("new_group"))


def _limited(statement: Select[*tuple[Any, ...]], *, locking: bool) -> Select[*tuple[Any, ...]]:
    limited = statement.limit(_MOST)
    return limited.with_for_update(skip_locked=True) if locking else limited
