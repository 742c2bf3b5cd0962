"""Tables of functions; only their repositories use them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Text,
    Uuid,
    false,
)
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.functions.json_types import (
    ActionStep,
    Bytecode,
    DeliverySettings,
    FilterEntry,
    FunctionFilters,
    FunctionMapping,
    Globals,
    InputSchema,
    InputValues,
    MaskingSettings,
    RetrySettings,
    StoredMatcher,
)
from hoglet.functions.types import DeadLetterClass, FunctionType
from hoglet.kit.json import JsonObject
from hoglet.store.database import Base, JsonText, UtcDateTime


class HogFunctionRow(Base):
    """A hog function.

    ``matcher`` is the run-time form of the filters:
    ``{"tree": {...}, "events": ["$pageview"], "mappings": [{"tree": ..., "events": ...,
    "number": 0}], "next_number": 1}``.
    ``secrets``, ``mapping_secrets`` and ``draft`` are encrypted; the draft has the fields that
    differ from the live ones. ``has_drafts``: it has ever had a draft. ``version`` increases
    with every write that may affect runs, including those that do not change ``updated_at``.
    """

    __tablename__ = "hog_functions"
    __table_args__ = (Index(None, "project_id", "deleted", "type"),)

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[int] = mapped_column(Integer, index=True)
    type: Mapped[FunctionType] = mapped_column(String(40))
    name: Mapped[str | None] = mapped_column(String(400))
    description: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    created_by: Mapped[int | None] = mapped_column(Integer)
    enabled: Mapped[bool]
    deleted: Mapped[bool]
    hog: Mapped[str] = mapped_column(Text)
    bytecode: Mapped[Bytecode | None] = mapped_column(JsonText)
    transpiled: Mapped[str | None] = mapped_column(Text)
    inputs_schema: Mapped[list[InputSchema]] = mapped_column(JsonText)
    inputs: Mapped[InputValues] = mapped_column(JsonText)
    secrets: Mapped[str | None] = mapped_column(Text)
    filters: Mapped[FunctionFilters] = mapped_column(JsonText)
    matcher: Mapped[StoredMatcher] = mapped_column(JsonText)
    masking: Mapped[MaskingSettings | None] = mapped_column(JsonText)
    mappings: Mapped[list[FunctionMapping] | None] = mapped_column(JsonText)
    mapping_secrets: Mapped[str | None] = mapped_column(Text)
    icon_url: Mapped[str | None] = mapped_column(Text)
    template_id: Mapped[str | None] = mapped_column(String(400))
    execution_order: Mapped[int | None] = mapped_column(Integer)
    retry: Mapped[RetrySettings | None] = mapped_column(JsonText)
    delivery: Mapped[DeliverySettings | None] = mapped_column(JsonText)
    folder: Mapped[str | None] = mapped_column(Text)
    batch_export_id: Mapped[UUID | None] = mapped_column(Uuid)
    state: Mapped[int] = mapped_column(Integer, default=1)
    version: Mapped[int] = mapped_column(BigInteger, default=1)
    draft: Mapped[str | None] = mapped_column(Text)
    draft_updated_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    has_drafts: Mapped[bool] = mapped_column(default=False, server_default=false())


class WatcherRow(Base):
    """The watcher's data of a function; no row means a full bucket.

    ``recent`` counts finished runs per minute since 1970, ``{"29471040": [finished, failed]}``, for
    the last half hour.
    """

    __tablename__ = "hog_function_watchers"

    function_id: Mapped[UUID] = mapped_column(
        Uuid, ForeignKey("hog_functions.id", ondelete="CASCADE"), primary_key=True
    )
    tokens: Mapped[float]
    tokens_at: Mapped[datetime] = mapped_column(UtcDateTime)
    locked_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    recent: Mapped[dict[str, list[int]]] = mapped_column(JsonText)


class DeadLetterRow(Base):
    """A failed run; ``globals`` has no inputs and therefore no secrets."""

    __tablename__ = "hog_function_dead_letters"
    __table_args__ = (
        Index(None, "function_id", "last_failed_at"),
        Index(None, "last_failed_at"),
    )

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[int] = mapped_column(Integer)
    function_id: Mapped[UUID] = mapped_column(
        Uuid, ForeignKey("hog_functions.id", ondelete="CASCADE")
    )
    error_class: Mapped[DeadLetterClass] = mapped_column("letter_class", String(20))
    invocation_id: Mapped[UUID] = mapped_column(Uuid, index=True)
    event_uuid: Mapped[str | None] = mapped_column(String(100))
    event: Mapped[str | None] = mapped_column(Text)
    distinct_id: Mapped[str | None] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(Integer)
    error: Mapped[str] = mapped_column(Text)
    globals: Mapped[Globals] = mapped_column(JsonText)
    mapping: Mapped[int | None] = mapped_column(Integer)
    first_failed_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_failed_at: Mapped[datetime] = mapped_column(UtcDateTime)
    redriven_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class MaskRow(Base):
    """A masking counter of a function and hash; expired rows are ignored."""

    __tablename__ = "hog_function_masks"

    function_id: Mapped[UUID] = mapped_column(
        Uuid, ForeignKey("hog_functions.id", ondelete="CASCADE"), primary_key=True
    )
    hash: Mapped[str] = mapped_column(String(32), primary_key=True)
    count: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class PauseRow(Base):
    """A host paused requests of a function with ``Retry-After`` until ``until``."""

    __tablename__ = "hog_function_pauses"

    function_id: Mapped[UUID] = mapped_column(
        Uuid, ForeignKey("hog_functions.id", ondelete="CASCADE"), primary_key=True
    )
    host: Mapped[str] = mapped_column(String(400), primary_key=True)
    until: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class BatchExportRow(Base):
    """The paused export of a function (docs/spec/hog-functions.md#91-enable_backfills)."""

    __tablename__ = "hog_function_batch_exports"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[int] = mapped_column(Integer, index=True)
    function_id: Mapped[UUID] = mapped_column(
        Uuid, ForeignKey("hog_functions.id", ondelete="CASCADE")
    )
    filters: Mapped[list[FilterEntry]] = mapped_column(JsonText)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class BackfillRow(Base):
    """A backfill of stored events in a time range.

    ``after_at`` and ``after_uuid`` identify the last queued event. It is ``Completed`` when
    ``all_read`` and as many runs have ended as events were queued; an event counts once for each
    mapping that it matches.
    """

    __tablename__ = "hog_function_backfills"

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    batch_export_id: Mapped[UUID] = mapped_column(
        Uuid, ForeignKey("hog_function_batch_exports.id", ondelete="CASCADE"), index=True
    )
    start_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    end_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    status: Mapped[str] = mapped_column(String(40))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    with_filters: Mapped[bool] = mapped_column(default=False)
    after_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    after_uuid: Mapped[UUID | None] = mapped_column(Uuid)
    all_read: Mapped[bool] = mapped_column(default=False)
    events_total: Mapped[int | None] = mapped_column(BigInteger)
    events_queued: Mapped[int] = mapped_column(BigInteger, default=0)
    runs_succeeded: Mapped[int] = mapped_column(BigInteger, default=0)
    runs_failed: Mapped[int] = mapped_column(BigInteger, default=0)


class ActionRow(Base):
    """A named set of event conditions that filters refer to."""

    __tablename__ = "actions"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    project_id: Mapped[int] = mapped_column(Integer, index=True)
    name: Mapped[str | None] = mapped_column(String(400))
    description: Mapped[str] = mapped_column(Text, default="")
    steps: Mapped[list[ActionStep]] = mapped_column(JsonText)
    deleted: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    created_by: Mapped[int | None] = mapped_column(Integer)


class IntegrationRow(Base):
    """A stored credential that functions refer to by id.

    ``secrets`` is encrypted: ``{"access_token": "…"}``. ``placeholder`` is random text that
    programs see instead of the token. ``version`` increases with every change; ids are never
    reused, so a function whose integration was deleted cannot get another one.
    """

    __tablename__ = "integrations"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 (SQLAlchemy's own form)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    project_id: Mapped[int] = mapped_column(Integer, index=True)
    kind: Mapped[str] = mapped_column(String(40))
    display_name: Mapped[str | None] = mapped_column(String(400))
    config: Mapped[JsonObject] = mapped_column(JsonText)
    hosts: Mapped[list[str] | None] = mapped_column(JsonText)
    secrets: Mapped[str] = mapped_column(Text)
    placeholder: Mapped[str] = mapped_column(String(100), index=True)
    version: Mapped[int] = mapped_column(Integer, default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    created_by: Mapped[int | None] = mapped_column(Integer)


class SecretKeyCheckRow(Base):
    """A known text, encrypted like stored secrets; at most one row.

    If a server's keys cannot decrypt it, they are not the keys of the earlier servers.
    """

    __tablename__ = "secret_key_check"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, default=1)
    encrypted: Mapped[str] = mapped_column(Text)
