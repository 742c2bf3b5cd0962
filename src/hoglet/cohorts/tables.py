"""Tables of cohorts, their calculations, and pending uploads."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String, Text, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.database import Base, JsonText, UtcDateTime


class CohortRow(Base):
    """A cohort; its members are in the warehouse, under ``calculation_id``.

    ``calculation_id`` is 0 until the first calculation has finished. A static cohort keeps its
    first one; ``revision`` counts changes of its members.
    """

    __tablename__ = "cohorts"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    name: Mapped[str] = mapped_column(String(400))
    description: Mapped[str] = mapped_column(Text)
    deleted: Mapped[bool]
    filters: Mapped[Any] = mapped_column(JsonText, nullable=True)
    query: Mapped[Any] = mapped_column(JsonText, nullable=True)
    groups: Mapped[Any] = mapped_column(JsonText)
    is_static: Mapped[bool]
    version: Mapped[int | None]
    pending_version: Mapped[int | None]
    is_calculating: Mapped[bool]
    calculating_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_calculation: Mapped[datetime | None] = mapped_column(UtcDateTime)
    errors_calculating: Mapped[int]
    last_error_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_error_message: Mapped[str | None] = mapped_column(Text)
    count: Mapped[int | None] = mapped_column(BigInteger)
    calculation_id: Mapped[int]
    revision: Mapped[int] = mapped_column(BigInteger)
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class CohortCalculationRow(Base):
    """A calculation of a cohort; its members in the warehouse have its id."""

    __tablename__ = "cohort_calculations"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohorts.id"), index=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    version: Mapped[int]
    filters: Mapped[Any] = mapped_column(JsonText, nullable=True)
    count: Mapped[int | None] = mapped_column(BigInteger)
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    error: Mapped[str | None] = mapped_column(Text)
    error_code: Mapped[str | None] = mapped_column(String(100))
    total_query_ms: Mapped[int | None] = mapped_column(BigInteger)
    total_read_rows: Mapped[int | None] = mapped_column(BigInteger)


class CohortUploadRow(Base):
    """Persons to add to a static cohort: a compressed JSON list of strings.

    ``kind`` is ``person_id``, ``distinct_id`` or ``email``.
    """

    __tablename__ = "cohort_uploads"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohorts.id"), index=True)
    kind: Mapped[str] = mapped_column(String(20))
    texts: Mapped[bytes] = mapped_column(LargeBinary)
