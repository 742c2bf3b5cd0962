"""The day on which a project's weeks start."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("week_start_day", sa.Integer(), nullable=False, server_default="0")
    op.add_column("projects", column)


def downgrade() -> None:
    op.drop_column("projects", "week_start_day")
