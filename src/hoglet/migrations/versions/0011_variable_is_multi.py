"""List variables that stand for all of their values."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("is_multi", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("insight_variables", column)


def downgrade() -> None:
    op.drop_column("insight_variables", "is_multi")
