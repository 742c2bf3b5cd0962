"""The tables of jobs, behind :mod:`hoglet.queue.sql`, and of the processes that lease them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, Integer, LargeBinary, SmallInteger, String, Text, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.database import Base, UtcDateTime


class JobRow(Base):
    """A waiting, leased or dead-lettered job; finished jobs are deleted."""

    __tablename__ = "jobs"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    queue: Mapped[str] = mapped_column(String(100))
    priority: Mapped[int] = mapped_column(SmallInteger)
    run_at: Mapped[datetime] = mapped_column(UtcDateTime)
    enqueued_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ordering_key: Mapped[str | None] = mapped_column(String(200))
    weight: Mapped[int] = mapped_column(Integer)
    lane: Mapped[str | None] = mapped_column(String(200))
    attempts: Mapped[int] = mapped_column(Integer)
    retries: Mapped[int] = mapped_column(Integer)
    group_id: Mapped[UUID | None] = mapped_column(Uuid)
    leased_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    lease: Mapped[UUID | None] = mapped_column(Uuid)
    lease_owner: Mapped[str | None] = mapped_column(String(200))
    buried_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    error: Mapped[str | None] = mapped_column(Text)
    # Last, so that SQLite can read the small columns without the payload's overflow pages.
    payload: Mapped[bytes] = mapped_column(LargeBinary)

    __table_args__ = (
        # Leasing scans this in order; delayed retries are beyond `run_at <= now`.
        Index("ix_jobs_due", "queue", "priority", "run_at", "id"),
        # If lanes are excluded, leasing scans the others in order.
        Index("ix_jobs_lane", "queue", "priority", "lane", "run_at", "id"),
        Index("ix_jobs_leased", "queue", "leased_until"),
        Index("ix_jobs_group_id", "group_id"),
        Index("ix_jobs_lease_owner", "lease_owner"),
    )


class JobOwnerRow(Base):
    """A process that leases jobs, and its last heartbeat; a version before 0033 has no row."""

    __tablename__ = "job_owners"

    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
