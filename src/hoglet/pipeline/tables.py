"""The telemetry outbox, events to be counted, and runs that wait for an earlier one."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Index, Integer, LargeBinary, SmallInteger, String, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.base import Base, UtcDateTime


class TelemetryRow(Base):
    """Logs and metrics of one commit; ``flush`` names the block it was put into, if any."""

    __tablename__ = "telemetry_outbox"

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    payload: Mapped[bytes] = mapped_column(LargeBinary)
    flush: Mapped[UUID | None] = mapped_column(Uuid, index=True)


class DeferredFilteredRow(Base):
    """How many events of which names a group had; functions are counted from it later."""

    __tablename__ = "unasked_events"

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    project_id: Mapped[int] = mapped_column(BigInteger)
    names: Mapped[bytes] = mapped_column(LargeBinary)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class OrderedRunRow(Base):
    """A run of a line: runs of one function for one person, one after another.

    The one with the lowest ``place`` is in the queue as well; the others wait here for its end.
    """

    __tablename__ = "ordered_runs"
    __table_args__ = (Index(None, "line", "place"),)

    place: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    line: Mapped[str] = mapped_column(String(200))
    invocation_id: Mapped[UUID] = mapped_column(Uuid, unique=True)
    lane: Mapped[str | None] = mapped_column(String(200))
    priority: Mapped[int] = mapped_column(SmallInteger)
    payload: Mapped[bytes] = mapped_column(LargeBinary)
