"""The table that ties a database to its encryption keys."""

from sqlalchemy import SmallInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from hoglet.store.base import Base

ONLY_ROW = 1


class SecretKeyCheckRow(Base):
    """A known text, encrypted like stored secrets; at most one row.

    A server whose keys do not decrypt it has other keys than the servers before it.
    """

    __tablename__ = "secret_key_check"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, default=ONLY_ROW)
    encrypted: Mapped[str] = mapped_column(Text)
