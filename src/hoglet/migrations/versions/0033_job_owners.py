"""Heartbeats of the processes that lease jobs."""

import sqlalchemy as sa
from alembic import op

from hoglet.store.database import UtcDateTime

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job_owners",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("seen_at", UtcDateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("job_owners")
