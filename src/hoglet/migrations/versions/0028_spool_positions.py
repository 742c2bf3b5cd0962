"""Up to which position each spool partition is stored, and which server owns it."""

import sqlalchemy as sa
from alembic import op

from hoglet.store.database import UtcDateTime

revision = "0028"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "spool_positions",
        sa.Column("log", sa.String(20), nullable=False),
        sa.Column("partition", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("owner", sa.String(200), nullable=True),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("done_upto", sa.BigInteger(), nullable=False),
        sa.Column("group_from", sa.BigInteger(), nullable=True),
        sa.Column("group_to", sa.BigInteger(), nullable=True),
        sa.Column("group_project", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("log", "partition", name=op.f("pk_spool_positions")),
    )
    op.create_table(
        "spool_owners",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("seen_at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_spool_owners")),
    )


def downgrade() -> None:
    op.drop_table("spool_owners")
    op.drop_table("spool_positions")
