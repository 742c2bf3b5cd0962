"""Tables of the log in PostgreSQL, and of the positions and owners of every log."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, LargeBinary, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.database import Base, UtcDateTime


class SpoolPartitionRow(Base):
    """The last position of a partition; locking the row serializes appends."""

    __tablename__ = "spool_partitions"

    partition: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    last_position: Mapped[int] = mapped_column(BigInteger)


class SpoolEntryRow(Base):
    """An entry of the log."""

    __tablename__ = "spool_entries"

    partition: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class SpoolPositionRow(Base):
    """The position up to which a partition is stored, and the server that owns it.

    ``group_from`` and ``group_to`` are the first and last position of the group in progress, if
    there is one; its projects with ids up to ``group_project`` are stored already. Partitions with
    the same ``group_id`` are stored together; a group of one partition has none. Projects with up
    to ``joined_events`` events together are stored together; NULL: one after another.
    ``named_by_members``: its blocks are named after all of its entries; NULL: after the first one.
    """

    __tablename__ = "spool_positions"

    log: Mapped[str] = mapped_column(String(20), primary_key=True)
    partition: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    owner: Mapped[str | None] = mapped_column(String(200))
    epoch: Mapped[int] = mapped_column(BigInteger)
    done_upto: Mapped[int] = mapped_column(BigInteger)
    group_from: Mapped[int | None] = mapped_column(BigInteger)
    group_to: Mapped[int | None] = mapped_column(BigInteger)
    group_project: Mapped[int] = mapped_column(BigInteger)
    group_id: Mapped[UUID | None]
    joined_events: Mapped[int | None]
    named_by_members: Mapped[bool | None]


class SpoolOwnerRow(Base):
    """A server that processes partitions, and its last heartbeat.

    ``shares_groups``: its version knows groups of several partitions; NULL if not.
    ``joins_projects``: the same of groups of several projects; ``names_members``: of groups that
    are named after all of their entries. ``logs``: the names of the logs that it consumes,
    separated by spaces; NULL if its version does not say.
    """

    __tablename__ = "spool_owners"

    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    shares_groups: Mapped[bool | None]
    joins_projects: Mapped[bool | None]
    names_members: Mapped[bool | None]
    logs: Mapped[str | None] = mapped_column(String(200))
