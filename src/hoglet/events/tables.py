"""Tables of persons, groups and warnings; the warehouse has copies."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Boolean,
    Date,
    Index,
    Integer,
    SmallInteger,
    String,
    Text,
    Uuid,
)
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.database import Base, JsonText, UtcDateTime

type WarningExample = dict[str, Any]
"""The details of one case of an ingestion warning: ``{"event": "paid", "distinct_id": "…"}``."""


class PersonRow(Base):
    """A person; merged ones are deleted here and marked deleted in the warehouse.

    ``properties`` is JSON text that the pipeline passes on unparsed.
    """

    __tablename__ = "persons"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    properties: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    is_identified: Mapped[bool] = mapped_column(Boolean)
    version: Mapped[int] = mapped_column(BigInteger)


class DistinctIdRow(Base):
    """The person of a distinct id; a person can have many."""

    __tablename__ = "person_distinct_ids"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    distinct_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    person_id: Mapped[UUID] = mapped_column(Uuid)
    version: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (
        Index("ix_person_distinct_ids_person", "project_id", "person_id"),
        {"sqlite_with_rowid": False},
    )


class RetiredDistinctIdRow(Base):
    """A distinct id whose person was deleted; if it returns, its versions continue from here."""

    __tablename__ = "retired_distinct_ids"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    distinct_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    version: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = ({"sqlite_with_rowid": False},)


class PersonDeletionRow(Base):
    """A request to delete a person, its events, or both; ``verified_at``: when none were left."""

    __tablename__ = "person_deletions"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[int] = mapped_column(BigInteger)
    person_id: Mapped[UUID] = mapped_column(Uuid)
    distinct_ids: Mapped[list[str]] = mapped_column(JsonText)
    delete_person: Mapped[bool] = mapped_column(Boolean)
    delete_events: Mapped[bool] = mapped_column(Boolean)
    requested_at: Mapped[datetime] = mapped_column(UtcDateTime)
    verified_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    __table_args__ = (Index("ix_person_deletions_project", "project_id", "requested_at"),)


class GroupTypeRow(Base):
    """The index (0..4) of a project's group type."""

    __tablename__ = "group_types"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    group_type: Mapped[str] = mapped_column(String(400), primary_key=True)
    group_index: Mapped[int] = mapped_column(SmallInteger)


class GroupRow(Base):
    """A group (an organization, a company) and its properties."""

    __tablename__ = "groups"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    group_index: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    group_key: Mapped[str] = mapped_column(String(400), primary_key=True)
    properties: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    version: Mapped[int] = mapped_column(BigInteger)


class KnownUuidRow(Base):
    """A UUID sent with an event, and the day (since 1970) on which the event was stored."""

    __tablename__ = "known_uuids"

    # Day comes first, so that a day is one range of the index: inserts at its end, deletes at its
    # start.
    day: Mapped[int] = mapped_column(Integer, primary_key=True)
    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_uuid: Mapped[UUID] = mapped_column(Uuid, primary_key=True)

    __table_args__ = ({"sqlite_with_rowid": False},)


class SeenEventRow(Base):
    """UUIDs sent by clients; further events with the same UUID are ignored."""

    __tablename__ = "seen_events"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_uuid: Mapped[UUID] = mapped_column(Uuid, primary_key=True)

    __table_args__ = ({"sqlite_with_rowid": False},)


class IngestionWarningRow(Base):
    """Dropped or rejected events, counted by project, kind and day, with the latest example."""

    __tablename__ = "ingestion_warnings"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    kind: Mapped[str] = mapped_column(String(60), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    count: Mapped[int] = mapped_column(Integer)
    example: Mapped[WarningExample] = mapped_column(JsonText)
    last_at: Mapped[datetime] = mapped_column(UtcDateTime)
