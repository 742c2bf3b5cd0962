"""Cohorts, their calculations and uploads."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TIME = hoglet.store.database.UtcDateTime(timezone=True)
_JSON = hoglet.store.database.JsonText()


def upgrade() -> None:
    op.create_table(
        "cohorts",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.Column("filters", _JSON, nullable=True),
        sa.Column("query", _JSON, nullable=True),
        sa.Column("groups", _JSON, nullable=False),
        sa.Column("is_static", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("pending_version", sa.Integer(), nullable=True),
        sa.Column("is_calculating", sa.Boolean(), nullable=False),
        sa.Column("calculating_since", _TIME, nullable=True),
        sa.Column("last_calculation", _TIME, nullable=True),
        sa.Column("errors_calculating", sa.Integer(), nullable=False),
        sa.Column("last_error_at", _TIME, nullable=True),
        sa.Column("last_error_message", sa.Text(), nullable=True),
        sa.Column("count", sa.BigInteger(), nullable=True),
        sa.Column("calculation_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_cohorts_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name=op.f("fk_cohorts_created_by_id_users")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cohorts")),
    )
    op.create_index(op.f("ix_cohorts_project_id"), "cohorts", ["project_id"])
    op.create_table(
        "cohort_calculations",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("cohort_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("filters", _JSON, nullable=True),
        sa.Column("count", sa.BigInteger(), nullable=True),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME, nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("error_code", sa.String(length=100), nullable=True),
        sa.Column("total_query_ms", sa.BigInteger(), nullable=True),
        sa.Column("total_read_rows", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["cohort_id"], ["cohorts.id"], name=op.f("fk_cohort_calculations_cohort_id_cohorts")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_cohort_calculations_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cohort_calculations")),
    )
    op.create_index(op.f("ix_cohort_calculations_cohort_id"), "cohort_calculations", ["cohort_id"])
    op.create_table(
        "cohort_uploads",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("cohort_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("texts", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cohort_id"], ["cohorts.id"], name=op.f("fk_cohort_uploads_cohort_id_cohorts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cohort_uploads")),
    )
    op.create_index(op.f("ix_cohort_uploads_cohort_id"), "cohort_uploads", ["cohort_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_cohort_uploads_cohort_id"), table_name="cohort_uploads")
    op.drop_table("cohort_uploads")
    op.drop_index(op.f("ix_cohort_calculations_cohort_id"), table_name="cohort_calculations")
    op.drop_table("cohort_calculations")
    op.drop_index(op.f("ix_cohorts_project_id"), table_name="cohorts")
    op.drop_table("cohorts")
