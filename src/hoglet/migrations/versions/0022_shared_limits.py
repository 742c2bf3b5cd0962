"""Rate limits that several servers share."""

import sqlalchemy as sa
from alembic import op

from hoglet.store.database import UtcDateTime

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Counters need not survive a crash of PostgreSQL; SQLite never writes them.
    unlogged = ["UNLOGGED"] if op.get_bind().dialect.name == "postgresql" else []
    op.create_table(
        "rate_windows",
        sa.Column("bucket", sa.String(200), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.Column("ends_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("bucket", "seconds", name=op.f("pk_rate_windows")),
        prefixes=unlogged,
    )
    op.create_table(
        "host_rates",
        sa.Column("name", sa.String(300), nullable=False),
        sa.Column("next_at", UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_host_rates")),
        prefixes=unlogged,
    )
    op.create_index(op.f("ix_host_rates_next_at"), "host_rates", ["next_at"])


def downgrade() -> None:
    op.drop_table("host_rates")
    op.drop_table("rate_windows")
