"""Requests to cancel runs that are waiting on another server."""

import sqlalchemy as sa
from alembic import op

from hoglet.store.database import UtcDateTime

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cancel_requests",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("query_id", sa.Text(), nullable=False),
        sa.Column("requested_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("found_at", UtcDateTime(timezone=True), nullable=True),
        sa.Column("ended_at", UtcDateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cancel_requests")),
    )


def downgrade() -> None:
    op.drop_table("cancel_requests")
