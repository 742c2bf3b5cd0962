"""Background runs of ad hoc queries."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "query_runs",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.String(length=128), nullable=False),
        sa.Column("execution_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("request", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("cache_key", sa.String(length=100), nullable=True),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        sa.Column("failure", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("started_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("picked_up_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("ended_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("expires_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_query_runs_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_query_runs_user_id_users")
        ),
        sa.PrimaryKeyConstraint("project_id", "query_id", name=op.f("pk_query_runs")),
    )
    op.create_index(op.f("ix_query_runs_expires_at"), "query_runs", ["expires_at"])


def downgrade() -> None:
    op.drop_index(op.f("ix_query_runs_expires_at"), table_name="query_runs")
    op.drop_table("query_runs")
