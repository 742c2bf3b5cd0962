"""Stored credentials of functions."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "integrations",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("display_name", sa.String(length=400), nullable=True),
        sa.Column("config", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("hosts", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("secrets", sa.Text(), nullable=False),
        sa.Column("placeholder", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_integrations")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_integrations_project_id"), "integrations", ["project_id"])
    op.create_index(op.f("ix_integrations_placeholder"), "integrations", ["placeholder"])


def downgrade() -> None:
    op.drop_index(op.f("ix_integrations_placeholder"), table_name="integrations")
    op.drop_index(op.f("ix_integrations_project_id"), table_name="integrations")
    op.drop_table("integrations")
