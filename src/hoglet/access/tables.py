"""Tables of users, organizations, projects and keys."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import (
    Boolean,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    false,
)
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.access.schemas import ActivityDetail, VariableType
from hoglet.store.database import Base, JsonText, UtcDateTime


class OrganizationRow(Base):
    """An organization; owns projects, has users as members."""

    __tablename__ = "organizations"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    slug: Mapped[str] = mapped_column(String(200), unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ProjectRow(Base):
    """A project (a team or environment in PostHog's clients)."""

    __tablename__ = "projects"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    uuid: Mapped[UUID] = mapped_column(Uuid, unique=True)
    organization_id: Mapped[UUID] = mapped_column(ForeignKey("organizations.id"), index=True)
    api_token: Mapped[str] = mapped_column(String(200), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    timezone: Mapped[str] = mapped_column(String(100), default="UTC")
    app_urls: Mapped[Any] = mapped_column(JsonText, default=list)
    test_account_filters: Mapped[Any] = mapped_column(JsonText, default=list)
    person_display_name_properties: Mapped[Any] = mapped_column(JsonText, nullable=True)
    anonymize_ips: Mapped[bool] = mapped_column(default=False)
    week_start_day: Mapped[Literal[0, 1]] = mapped_column(Integer, default=0)
    is_demo: Mapped[bool] = mapped_column(default=False)
    ingested_event: Mapped[bool] = mapped_column(default=False)
    definitions_version: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)


class UserRow(Base):
    """A user; signs in with keys only, so there is no password."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    uuid: Mapped[UUID] = mapped_column(Uuid, unique=True)
    distinct_id: Mapped[str] = mapped_column(String(200), unique=True)
    first_name: Mapped[str] = mapped_column(String(150), default="")
    last_name: Mapped[str] = mapped_column(String(150), default="")
    email: Mapped[str] = mapped_column(String(254), unique=True)
    is_active: Mapped[bool] = mapped_column(default=True)
    is_email_verified: Mapped[bool | None] = mapped_column(default=None)
    is_staff: Mapped[bool] = mapped_column(default=False)
    hedgehog_config: Mapped[Any] = mapped_column(JsonText, nullable=True)
    theme_mode: Mapped[str | None] = mapped_column(String(20), default=None)
    current_project_id: Mapped[int | None] = mapped_column(ForeignKey("projects.id"), default=None)
    date_joined: Mapped[datetime] = mapped_column(UtcDateTime)


class MembershipRow(Base):
    """Membership of a user in an organization; ``level`` 1 member, 8 admin, 15 owner."""

    __tablename__ = "memberships"
    __table_args__ = (UniqueConstraint("organization_id", "user_id"),)

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    organization_id: Mapped[UUID] = mapped_column(ForeignKey("organizations.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    level: Mapped[int]


class PersonalKeyRow(Base):
    """A personal API key; only its hash is stored (see ``keys``)."""

    __tablename__ = "personal_api_keys"

    id: Mapped[str] = mapped_column(String(50), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    label: Mapped[str] = mapped_column(String(200))
    mask_value: Mapped[str] = mapped_column(String(20))
    key_hash: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[Any] = mapped_column(JsonText)
    scoped_teams: Mapped[Any] = mapped_column(JsonText)
    scoped_organizations: Mapped[Any] = mapped_column(JsonText)
    is_made_by_api: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime, nullable=True)
    last_rolled_at: Mapped[datetime | None] = mapped_column(UtcDateTime, nullable=True)


class SecretKeyRow(Base):
    """A project secret key; only its hash is stored (see ``keys``)."""

    __tablename__ = "project_secret_keys"

    id: Mapped[str] = mapped_column(String(50), primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    label: Mapped[str] = mapped_column(String(200))
    mask_value: Mapped[str] = mapped_column(String(20))
    key_hash: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[Any] = mapped_column(JsonText)
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), default=None)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime, nullable=True)
    last_rolled_at: Mapped[datetime | None] = mapped_column(UtcDateTime, nullable=True)


class SigningKeyRow(Base):
    """A key that signs tenant tokens; ``expires_at`` ends the grace time of a replaced one."""

    __tablename__ = "tenant_signing_keys"

    id: Mapped[str] = mapped_column(String(50), primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    encrypted: Mapped[str] = mapped_column(Text)
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), default=None)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime, nullable=True)


class VariableRow(Base):
    """A project's query variable."""

    __tablename__ = "insight_variables"
    __table_args__ = (UniqueConstraint("project_id", "code_name"),)

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    name: Mapped[str] = mapped_column(String(400))
    code_name: Mapped[str] = mapped_column(String(400))
    type: Mapped[VariableType] = mapped_column(String(20))
    default_value: Mapped[Any] = mapped_column(JsonText, nullable=True)
    values: Mapped[Any] = mapped_column(JsonText, nullable=True)
    is_multi: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ActivityRow(Base):
    """Who changed what; ``detail`` is ``{name, changes: [{type, action, field, before, after}]}``.

    Ids are time-ordered: newer entries have larger ids.
    """

    __tablename__ = "activity_log"
    __table_args__ = (Index("ix_activity_log_item", "project_id", "scope", "item_id", "id"),)

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    activity: Mapped[str] = mapped_column(String(100))
    scope: Mapped[str] = mapped_column(String(100))
    item_id: Mapped[str | None] = mapped_column(Text)
    detail: Mapped[ActivityDetail] = mapped_column(JsonText)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class RateWindowRow(Base):
    """Requests counted in a window; used only on PostgreSQL, where servers share it.

    ``bucket``: ``key:1f2e``, ``runs:secret:1``, ``project:1``.
    """

    __tablename__ = "rate_windows"

    bucket: Mapped[str] = mapped_column(String(200), primary_key=True)
    seconds: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    ends_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used: Mapped[int] = mapped_column()
