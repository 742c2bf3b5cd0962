"""The spool as a log: entries in partitions."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "spool_partitions",
        sa.Column("partition", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("last_position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("partition", name=op.f("pk_spool_partitions")),
    )
    op.create_table(
        "spool_entries",
        sa.Column("partition", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("partition", "position", name=op.f("pk_spool_entries")),
    )


def downgrade() -> None:
    op.drop_table("spool_entries")
    op.drop_table("spool_partitions")
