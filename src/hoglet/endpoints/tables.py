"""Tables of the endpoints room."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.base import Base, JsonText, UtcDateTime


class EndpointRow(Base):
    """A named query; what can change from version to version is in ``EndpointVersionRow``.

    ``live_name`` is the name until the endpoint is deleted, then NULL: the name is free again.
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
    """One version; ``query`` never changes once written.

    ``analysis`` is what the compiler said of the query when it was saved, see ``Analysis``.
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
    """A name for a version that can be moved, e.g. ``prod``."""

    __tablename__ = "endpoint_aliases"

    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("endpoints.id"), primary_key=True)
    alias: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))


class MaterializationRow(Base):
    """A version that is kept as a table; the row exists while materialization is enabled.

    ``table_name`` is the physical table that serves now (NULL before the first build);
    ``plan`` describes how it is built and read; ``schedule`` names the one build job that counts;
    ``stale_reason`` says why the table is not read until it is built again.
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


class AsyncRunRow(Base):
    """A run in the background; kept for an hour after it was asked for.

    ``answer`` is the whole body of the finished run, ``failure`` the problem it ended with.
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
