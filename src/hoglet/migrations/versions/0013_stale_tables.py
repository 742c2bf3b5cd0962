"""The reason why a materialized table is stale and not read until it is rebuilt."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("endpoint_materializations") as table:
        table.add_column(sa.Column("stale_reason", sa.String(length=40), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("endpoint_materializations") as table:
        table.drop_column("stale_reason")
