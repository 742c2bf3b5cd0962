"""Groups of several spool partitions, and which servers know them."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("spool_positions", sa.Column("group_id", sa.Uuid(), nullable=True))
    op.add_column("spool_owners", sa.Column("shares_groups", sa.Boolean(), nullable=True))


def downgrade() -> None:
    op.drop_column("spool_owners", "shares_groups")
    op.drop_column("spool_positions", "group_id")
