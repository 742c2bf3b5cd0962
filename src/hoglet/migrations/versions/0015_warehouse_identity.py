"""The warehouse that belongs to the database."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "warehouse_identity",
        sa.Column("id", sa.SmallInteger(), nullable=False),
        sa.Column("warehouse_id", sa.Uuid(), nullable=False),
        sa.Column("recorded_at", hoglet.store.database.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_warehouse_identity")),
    )


def downgrade() -> None:
    op.drop_table("warehouse_identity")
