"""Deletions of persons, and the versions of distinct ids whose person was deleted."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "person_deletions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("person_id", sa.Uuid(), nullable=False),
        sa.Column("distinct_ids", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("delete_person", sa.Boolean(), nullable=False),
        sa.Column("delete_events", sa.Boolean(), nullable=False),
        sa.Column("requested_at", hoglet.store.database.UtcDateTime(), nullable=False),
        sa.Column("verified_at", hoglet.store.database.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person_deletions")),
    )
    op.create_index(
        "ix_person_deletions_project", "person_deletions", ["project_id", "requested_at"]
    )
    op.create_table(
        "retired_distinct_ids",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("distinct_id", sa.String(length=200), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "distinct_id", name=op.f("pk_retired_distinct_ids")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("retired_distinct_ids")
    op.drop_index("ix_person_deletions_project", table_name="person_deletions")
    op.drop_table("person_deletions")
