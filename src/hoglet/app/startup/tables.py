"""The table that ties a database to its warehouse."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import SmallInteger, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.database import Base, UtcDateTime

ONLY_ROW = 1


class WarehouseIdentityRow(Base):
    """The warehouse that belongs to this database; at most one row."""

    __tablename__ = "warehouse_identity"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, default=ONLY_ROW)
    warehouse_id: Mapped[UUID] = mapped_column(Uuid)
    recorded_at: Mapped[datetime] = mapped_column(UtcDateTime)
