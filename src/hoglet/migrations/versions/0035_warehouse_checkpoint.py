"""The last checkpoint that was written to the warehouse, to notice when writes were lost."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "warehouse_checkpoint",
        sa.Column("id", sa.SmallInteger(), nullable=False),
        sa.Column("taken", sa.BigInteger(), nullable=False),
        sa.Column("confirmed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_warehouse_checkpoint")),
    )


def downgrade() -> None:
    op.drop_table("warehouse_checkpoint")
