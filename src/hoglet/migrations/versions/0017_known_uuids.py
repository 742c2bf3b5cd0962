"""The uuids of stored events by day; the older table stays until its rows have expired."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "known_uuids",
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("event_uuid", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("day", "project_id", "event_uuid", name=op.f("pk_known_uuids")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("known_uuids")
