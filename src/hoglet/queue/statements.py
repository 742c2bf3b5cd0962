"""The statements that lease jobs, built once: building one costs more than executing it.

Jobs are read in the order of the index by due time. If lanes are excluded, each of the other lanes
is read separately from its oldest job, since an excluded lane may have any number of jobs to skip.
The lanes are found by a loose index scan: one seek per lane in the index by lane.

Their parameters are ``queue``, ``owner``, ``now``, ``lanes``, ``most`` and ``ordering_key``.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    Select,
    String,
    Table,
    bindparam,
    func,
    or_,
    select,
    true,
    union_all,
    update,
)

from hoglet.queue.owners import UNLEASED
from hoglet.queue.port import Priority, Retry
from hoglet.queue.tables import JobRow
from hoglet.store.database import UtcDateTime

_QUEUE = bindparam("queue", type_=String())
_OWNER = bindparam("owner", type_=String())
_NOW = bindparam("now", type_=UtcDateTime())
_MOST = bindparam("most", type_=Integer())
_LANES = bindparam("lanes", expanding=True, type_=String())
_KEY = bindparam("ordering_key", type_=String())
_IDS = bindparam("ids", expanding=True)
_GROUP = bindparam("group")

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


type _Statement = Select[*tuple[Any, ...]]


def is_due(now: Any = _NOW, jobs: FromClause = JOBS) -> ColumnElement[bool]:
    """Jobs that can be leased."""
    unleased = jobs.c.leased_until.is_(None) | (jobs.c.leased_until <= now)
    return (jobs.c.run_at <= now) & unleased & jobs.c.buried_at.is_(None)


def depth_of(queue: str, now: datetime) -> Select[int, int, int, int, datetime | None]:
    """The numbers of ready, delayed, leased and failed jobs, and since when the first is ready."""
    failed = JOBS.c.buried_at.is_not(None)
    leased = ~failed & (JOBS.c.leased_until > now)
    delayed = ~failed & ~func.coalesce(leased, False) & (JOBS.c.run_at > now)
    ready = is_due(now)
    numbers = [func.count().filter(kind) for kind in (ready, delayed, leased, failed)]
    oldest = func.min(JOBS.c.run_at).filter(ready)
    return select(*numbers, oldest).where(JOBS.c.queue == queue)


def _with_priority(jobs: FromClause, priority: Priority) -> ColumnElement[bool]:
    return (jobs.c.queue == _QUEUE) & (jobs.c.priority == int(priority))


def _can_be_leased(jobs: FromClause, priority: Priority) -> ColumnElement[bool]:
    """Due jobs of a priority whose ordering key is not leased by another owner."""
    free_key = jobs.c.ordering_key.is_(None) | jobs.c.ordering_key.not_in(_keys_of_others())
    return _with_priority(jobs, priority) & is_due(jobs=jobs) & free_key


def _keys_of_others() -> Select[str | None]:
    """The ordering keys of the queue that are leased by other owners."""
    return select(JOBS.c.ordering_key).where(
        JOBS.c.queue == _QUEUE,
        JOBS.c.leased_until > _NOW,
        JOBS.c.lease_owner != _OWNER,
        JOBS.c.ordering_key.is_not(None),
    )


def _is_held_by_others(group: Any) -> ColumnElement[bool]:
    """Whether other owners have leased a key of the group."""
    member = JOBS.alias("any_member")
    of_group = select(member.c.id).where(member.c.group_id == group)
    return of_group.where(member.c.ordering_key.in_(_keys_of_others())).exists()


def _due(condition: ColumnElement[bool]) -> _Statement:
    """Jobs as ``(id, weight, group_id, ordering_key, lane, size)``, oldest first."""
    return (
        select(JOBS.c.id, JOBS.c.weight, JOBS.c.group_id, JOBS.c.ordering_key, JOBS.c.lane, _SIZE)
        .where(condition)
        .order_by(JOBS.c.run_at, JOBS.c.id)
    )


def _due_of_other_lanes(priority: Priority, *, is_sqlite: bool) -> _Statement:
    """The oldest due jobs of all lanes that are not excluded, and of jobs without a lane."""
    lanes = _lanes(priority)
    jobs = JOBS.alias("of_lane")
    oldest = (
        select(jobs.c.id)
        .where(_can_be_leased(jobs, priority), jobs.c.lane == lanes.c.lane)
        .order_by(jobs.c.run_at, jobs.c.id)
        .limit(_MOST)
    )
    if is_sqlite:  # it has no LATERAL
        member = JOBS.alias("member")
        ids = select(member.c.id).join_from(lanes, member, member.c.id.in_(oldest.correlate(lanes)))
    else:
        of_lane = oldest.correlate(lanes).lateral("oldest")
        ids = select(of_lane.c.id).join_from(lanes, of_lane, true())
    without_lane = (
        select(JOBS.c.id)
        .where(_can_be_leased(JOBS, priority), JOBS.c.lane.is_(None))
        .order_by(JOBS.c.run_at, JOBS.c.id)
        .limit(_MOST)
        .subquery("without_lane")
    )
    free = ids.where(lanes.c.lane.not_in(_LANES))
    return _due(JOBS.c.id.in_(union_all(free, select(without_lane.c.id))))


def _lanes(priority: Priority) -> FromClause:
    """The lanes of a queue, one index seek each; the last row is NULL."""
    first = select(func.min(JOBS.c.lane).label("lane")).where(
        _with_priority(JOBS, priority), JOBS.c.lane >= ""
    )
    lanes = first.cte(f"lanes_{priority.name.lower()}", recursive=True)
    further = JOBS.alias("further")
    following = (
        select(func.min(further.c.lane))
        .where(_with_priority(further, priority), further.c.lane > lanes.c.lane)
        .correlate(lanes)
        .scalar_subquery()
    )
    return lanes.union_all(select(following).where(lanes.c.lane.is_not(None)))


_same_key = JOBS.c.ordering_key.is_not_distinct_from(_KEY) & JOBS.c.group_id.is_(None)


class Statements:
    """The statements of one dialect.

    ``anything_due[excludes_lanes]`` tells whether a job can be leased; ``due[excludes_lanes]`` are
    the jobs that can be leased, by priority. Their statements are executed one after another.

    Args:
        is_sqlite: otherwise, rows locked by others are skipped (PostgreSQL).
    """

    def __init__(self, *, is_sqlite: bool) -> None:
        anywhere = [_due(_can_be_leased(JOBS, priority)) for priority in Priority]
        of_lanes = [_due_of_other_lanes(priority, is_sqlite=is_sqlite) for priority in Priority]
        of_key = [_due(_can_be_leased(JOBS, priority) & _same_key) for priority in Priority]
        # By whether lanes are excluded.
        self.anything_due = {
            False: select(or_(*[item.exists() for item in anywhere])),
            True: select(or_(*[item.exists() for item in of_lanes])),
        }
        # Each reads a single range of an index, regardless of how many retries are delayed.
        by_priority = _together if is_sqlite else _locking
        self.due = {False: by_priority(anywhere), True: by_priority(of_lanes)}
        self.due_of_key = by_priority(of_key)

    _lease = (
        update(JOBS)
        .where(JOBS.c.id.in_(_IDS))
        .values(
            lease=bindparam("new_lease"),
            leased_until=bindparam("until"),
            lease_owner=_OWNER,
            attempts=JOBS.c.attempts + 1,
        )
    )
    take = _lease.returning(*JOB_COLUMNS)
    retry = (
        update(JOBS)
        .where(JOBS.c.id == bindparam("held"), JOBS.c.lease == bindparam("held_lease"))
        .values(
            **UNLEASED,
            run_at=bindparam("due_at"),
            payload=bindparam("content"),
            retries=JOBS.c.retries + 1,
        )
    )
    # Groups have megabytes of payload, which SQLite would copy for RETURNING: they are read
    # afterwards. `error` only reserves room in jobs that did not fail, see `lease_room`.
    take_as_group = _lease.values(group_id=bindparam("new_group"), error=None)
    taken = cast("Select[Any]", select(*JOB_COLUMNS).where(JOBS.c.id.in_(_IDS)))
    unfinished = (
        select(JOBS.c.id).where(JOBS.c.queue == _QUEUE, JOBS.c.buried_at.is_(None)).limit(1)
    )
    # None while a key of the group is leased by another owner.
    members = (
        select(JOBS.c.id)
        .where(JOBS.c.group_id == _GROUP, ~_is_held_by_others(_GROUP))
        .order_by(JOBS.c.run_at, JOBS.c.id)
    )


def parameters_of(retry: Retry) -> dict[str, Any]:
    """The parameters of ``Statements.retry``."""
    return {
        "held": retry.job.id,
        "held_lease": retry.job.lease,
        "due_at": retry.run_at,
        "content": retry.payload,
    }


def lease_room(owner: str) -> str:
    """As many bytes as leasing a group adds to a row; leasing removes them from ``error``.

    SQLite writes only the changed pages of a row whose size stays the same. Otherwise a lease
    writes the payload again, hundreds of kilobytes of it for a batch of events.
    """
    size_of_time, size_of_uuid = 27, 32
    added = size_of_time + 2 * size_of_uuid + len(owner)  # until when, lease, group, owner
    return " " * (added - 1)  # the type of a text of 58 and more takes two bytes, that of NULL one


def _together(by_priority: Sequence[_Statement]) -> list[_Statement]:
    """One statement for SQLite, which reads the parts of a union in their order until the limit.

    Most leases find few jobs and would execute one for each priority.
    """
    parts = [select(statement.limit(_MOST).subquery()) for statement in by_priority]
    return [select(union_all(*parts).subquery()).limit(_MOST)]


def _locking(by_priority: Sequence[_Statement]) -> list[_Statement]:
    """A statement for each priority for PostgreSQL, which locks no rows in a union."""
    return [
        statement.limit(_MOST).with_for_update(skip_locked=True, of=JOBS)
        for statement in by_priority
    ]


@cache
def statements(*, is_sqlite: bool) -> Statements:
    """The statements of a dialect, cached per process because each consumer has its own queue."""
    return Statements(is_sqlite=is_sqlite)
