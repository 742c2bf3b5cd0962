"""Tables of background queries."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, LargeBinary, String, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.database import Base, JsonText, UtcDateTime


class QueryRunRow(Base):
    """A background query; stored for twenty minutes.

    ``request`` is a stored ``QueryRequest``; ``answer`` the complete body of the finished run;
    ``failure`` is ``{"status": 400, "code": "query_cancelled", "message": "…"}``; ``progress`` the
    ``query_progress`` of a finished run.
    """

    __tablename__ = "query_runs"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    query_id: Mapped[str] = mapped_column(String(128), primary_key=True)
    execution_id: Mapped[UUID] = mapped_column(Uuid)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    request: Mapped[Any] = mapped_column(JsonText)
    cache_key: Mapped[str | None] = mapped_column(String(100))
    answer: Mapped[bytes | None] = mapped_column(LargeBinary)
    failure: Mapped[Any] = mapped_column(JsonText, nullable=True)
    progress: Mapped[Any] = mapped_column(JsonText, nullable=True)
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    picked_up_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
