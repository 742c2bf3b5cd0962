"""Jobs by lane, so that leasing beside a lane with a backlog does not read it."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_jobs_lane", "jobs", ["queue", "priority", "lane", "run_at", "id"])


def downgrade() -> None:
    op.drop_index("ix_jobs_lane", "jobs")
