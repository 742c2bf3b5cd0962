"""Tables of the telemetry outbox, deferred filtered counts, and ordered runs."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Index, Integer, LargeBinary, SmallInteger, String, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.database import Base, UtcDateTime


class TelemetryRow(Base):
    """Logs and metrics of one commit; ``flush`` is the block they were assigned to, if any."""

    __tablename__ = "telemetry_outbox"

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    payload: Mapped[bytes] = mapped_column(LargeBinary)
    flush: Mapped[UUID | None] = mapped_column(Uuid, index=True)


class DeferredFilteredRow(Base):
    """Number of a group's events by name, from which ``filtered`` is counted later."""

    __tablename__ = "unasked_events"

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    project_id: Mapped[int] = mapped_column(BigInteger)
    names: Mapped[bytes] = mapped_column(LargeBinary)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class OrderedRunRow(Base):
    """A waiting run of an ordered function.

    The run with the lowest ``sequence`` per key is in the queue; the others wait until it ends.
    """

    __tablename__ = "ordered_runs"
    __table_args__ = (Index(None, "line", "place"),)

    sequence: Mapped[int] = mapped_column(
        "place", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    line: Mapped[str] = mapped_column(String(200))
    invocation_id: Mapped[UUID] = mapped_column(Uuid, unique=True)
    lane: Mapped[str | None] = mapped_column(String(200))
    priority: Mapped[int] = mapped_column(SmallInteger)
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class HostRateRow(Base):
    """When the next request to a rate-limited target may start; only on PostgreSQL.

    ``name``: ``host example.com`` or ``function 0190…``.
    """

    __tablename__ = "host_rates"

    name: Mapped[str] = mapped_column(String(300), primary_key=True)
    next_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class WarehouseCheckpointRow(Base):
    """The last checkpoint that was taken, and the last one that the warehouse has; one row."""

    __tablename__ = "warehouse_checkpoint"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    taken: Mapped[int] = mapped_column(BigInteger)
    confirmed: Mapped[int] = mapped_column(BigInteger)
