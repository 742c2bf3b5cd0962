"""Drafts of functions."""

import sqlalchemy as sa
from alembic import op

from hoglet.store.database import UtcDateTime

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("hog_functions", sa.Column("draft", sa.Text(), nullable=True))
    op.add_column(
        "hog_functions", sa.Column("draft_updated_at", UtcDateTime(timezone=True), nullable=True)
    )
    op.add_column(
        "hog_functions",
        sa.Column("has_drafts", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    op.drop_column("hog_functions", "has_drafts")
    op.drop_column("hog_functions", "draft_updated_at")
    op.drop_column("hog_functions", "draft")
