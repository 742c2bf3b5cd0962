"""Tables of property and event definitions."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, Float, ForeignKey, String, Text, Uuid, false
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.kit.clock import new_id
from hoglet.store.database import Base, JsonText, UtcDateTime


class PropertyDefinitionRow(Base):
    """A property: its type, detected or chosen, and its description, tags and flags.

    ``kind`` is ``event``, ``person`` or ``group_0`` to ``group_4``. ``form`` is the JSON form of
    all values ever seen, see :mod:`hoglet.definitions.observer`. It outlives the definition, so
    deleted definitions keep their row (``is_deleted``) until the next event restores them.
    """

    __tablename__ = "property_definitions"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    kind: Mapped[str] = mapped_column(String(10), primary_key=True)
    name: Mapped[str] = mapped_column(String(400), primary_key=True)
    id: Mapped[UUID] = mapped_column(Uuid, unique=True, default=new_id)
    property_type: Mapped[str | None] = mapped_column(String(10))
    form: Mapped[str] = mapped_column(String(10), server_default="mixed")
    description: Mapped[str] = mapped_column(Text, server_default="", default="")
    tags: Mapped[Any] = mapped_column(JsonText, server_default="[]", default=list)
    verified: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    verified_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    verified_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    hidden: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    is_deleted: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    first_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    updated_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    unconverted_share: Mapped[float | None] = mapped_column(Float)
    measured_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class EventDefinitionRow(Base):
    """An event name, seen or created; the seen dates are null until the first event."""

    __tablename__ = "event_definitions"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    name: Mapped[str] = mapped_column(String(400), primary_key=True)
    id: Mapped[UUID] = mapped_column(Uuid, unique=True, default=new_id)
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    description: Mapped[str] = mapped_column(Text, server_default="", default="")
    tags: Mapped[Any] = mapped_column(JsonText, server_default="[]", default=list)
    default_columns: Mapped[Any] = mapped_column(JsonText, server_default="[]", default=list)
    verified: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    verified_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    verified_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    hidden: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    created_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    last_seen_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    updated_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))


class EventPropertyRow(Base):
    """An event had a property at least once."""

    __tablename__ = "event_properties"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event: Mapped[str] = mapped_column(String(400), primary_key=True)
    property: Mapped[str] = mapped_column(String(400), primary_key=True)

    __table_args__ = ({"sqlite_with_rowid": False},)


class DroppedDefinitionsRow(Base):
    """A kind of definition reached its limit, so names that seem new may have older values."""

    __tablename__ = "dropped_definitions"

    project_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
