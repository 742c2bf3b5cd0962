"""Tables of endpoints."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.database import Base, JsonText, UtcDateTime


class EndpointRow(Base):
    """A named query; fields that vary between versions are in ``EndpointVersionRow``.

    ``live_name`` is the name until the endpoint is deleted, then NULL, so that the name can be
    reused.
    """

    __tablename__ = "endpoints"
    __table_args__ = (UniqueConstraint("project_id", "live_name"),)

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    name: Mapped[str] = mapped_column(String(128))
    live_name: Mapped[str | None] = mapped_column(String(128))
    is_active: Mapped[bool]
    current_version: Mapped[int]
    derived_from_insight: Mapped[str | None] = mapped_column(String(12))
    tags: Mapped[Any] = mapped_column(JsonText)
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_executed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class EndpointVersionRow(Base):
    """A version; ``query`` never changes.

    ``analysis`` is the compiler's analysis when it was saved, see ``Analysis``.
    """

    __tablename__ = "endpoint_versions"
    __table_args__ = (UniqueConstraint("endpoint_id", "number"),)

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("endpoints.id"))
    number: Mapped[int]
    query: Mapped[Any] = mapped_column(JsonText)
    analysis: Mapped[Any] = mapped_column(JsonText)
    description: Mapped[str] = mapped_column(Text)
    is_active: Mapped[bool]
    cache_age_seconds: Mapped[int | None]
    data_freshness_seconds: Mapped[int]
    sync_frequency: Mapped[str | None] = mapped_column(String(10))
    bucket_overrides: Mapped[Any] = mapped_column(JsonText, nullable=True)
    optional_breakdown_properties: Mapped[Any] = mapped_column(JsonText)
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_executed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class EndpointAliasRow(Base):
    """A movable name of a version, e.g. ``prod``."""

    __tablename__ = "endpoint_aliases"

    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("endpoints.id"), primary_key=True)
    alias: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))


class MaterializationRow(Base):
    """A materialized version; the row exists while materialization is enabled.

    ``table_name`` is the current physical table (NULL before the first build); ``plan`` describes
    how it is built and read; ``schedule`` identifies the current build job; ``stale_reason`` says
    why the table is not read until the next build.
    """

    __tablename__ = "endpoint_materializations"
    __table_args__ = (Index("ix_endpoint_materializations_endpoint", "endpoint_id"),)

    version_id: Mapped[UUID] = mapped_column(ForeignKey("endpoint_versions.id"), primary_key=True)
    saved_query_id: Mapped[UUID] = mapped_column(Uuid)
    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("endpoints.id"))
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    plan: Mapped[Any] = mapped_column(JsonText)
    table_name: Mapped[str | None] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(20))
    error: Mapped[str] = mapped_column(Text)
    stale_reason: Mapped[str | None] = mapped_column(String(40))
    schedule: Mapped[UUID] = mapped_column(Uuid)
    enabled_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_built_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class BuildRow(Base):
    """A build of a version's table; the id is that of its schedule."""

    __tablename__ = "endpoint_builds"
    __table_args__ = (Index("ix_endpoint_builds_endpoint_started", "endpoint_id", "started_at"),)

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("endpoints.id"))
    version: Mapped[int]
    status: Mapped[str] = mapped_column(String(20))
    error: Mapped[str] = mapped_column(Text)
    is_unchanged: Mapped[bool]
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class CancelRequestRow(Base):
    """A request to cancel a run on whichever server has it; the requesting server deletes it.

    ``owner_id`` is the id of the endpoint, or one that represents the project's ad hoc queries.
    """

    __tablename__ = "cancel_requests"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    owner_id: Mapped[UUID] = mapped_column(Uuid)
    query_id: Mapped[str] = mapped_column(Text)
    requested_at: Mapped[datetime] = mapped_column(UtcDateTime)
    found_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class AsyncRunRow(Base):
    """A background run; stored for an hour after it was requested.

    ``answer`` is the complete body of the finished run, ``failure`` its error.
    """

    __tablename__ = "endpoint_runs"

    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("endpoints.id"), primary_key=True)
    query_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    execution_id: Mapped[UUID] = mapped_column(Uuid)
    version: Mapped[int]
    request: Mapped[Any] = mapped_column(JsonText)
    answer: Mapped[bytes | None] = mapped_column(LargeBinary)
    failure: Mapped[Any] = mapped_column(JsonText, nullable=True)
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    picked_up_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
