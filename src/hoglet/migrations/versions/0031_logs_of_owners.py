"""The spool logs that a server consumes: it has no share of others."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("spool_owners", sa.Column("logs", sa.String(200), nullable=True))


def downgrade() -> None:
    op.drop_column("spool_owners", "logs")
