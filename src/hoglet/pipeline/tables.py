"""The telemetry outbox."""

from uuid import UUID

from sqlalchemy import BigInteger, Integer, LargeBinary, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.base import Base


class TelemetryRow(Base):
    """Logs and metrics of one commit; ``flush`` names the block it was put into, if any."""

    __tablename__ = "telemetry_outbox"

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    payload: Mapped[bytes] = mapped_column(LargeBinary)
    flush: Mapped[UUID | None] = mapped_column(Uuid, index=True)
