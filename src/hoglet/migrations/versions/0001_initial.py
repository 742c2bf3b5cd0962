"""initial."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.base

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("queue", sa.String(length=100), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("run_at", hoglet.store.base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("enqueued_at", hoglet.store.base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("ordering_key", sa.String(length=200), nullable=True),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("leased_until", hoglet.store.base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("lease", sa.Uuid(), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("buried_at", hoglet.store.base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index("ix_jobs_due", "jobs", ["queue", "priority", "run_at", "id"], unique=False)
    op.create_index("ix_jobs_group_id", "jobs", ["group_id"], unique=False)
    op.create_index("ix_jobs_lease_owner", "jobs", ["lease_owner"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_jobs_lease_owner", table_name="jobs")
    op.drop_index("ix_jobs_group_id", table_name="jobs")
    op.drop_index("ix_jobs_due", table_name="jobs")
    op.drop_table("jobs")
