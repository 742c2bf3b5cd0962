"""Groups of several projects in the spool log, and which servers know them."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("spool_positions", sa.Column("joined_events", sa.Integer(), nullable=True))
    op.add_column("spool_owners", sa.Column("joins_projects", sa.Boolean(), nullable=True))


def downgrade() -> None:
    op.drop_column("spool_owners", "joins_projects")
    op.drop_column("spool_positions", "joined_events")
