"""An index of jobs by lane, so that leasing can skip a lane with a backlog without reading it."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_jobs_lane", "jobs", ["queue", "priority", "lane", "run_at", "id"])


def downgrade() -> None:
    op.drop_index("ix_jobs_lane", "jobs")
