"""Signing keys of tenant tokens."""

import sqlalchemy as sa
from alembic import op

from hoglet.store.database import UtcDateTime

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tenant_signing_keys",
        sa.Column("id", sa.String(50), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("encrypted", sa.Text(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(timezone=True), nullable=False),
        sa.Column("expires_at", UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name=op.f("fk_tenant_signing_keys_created_by_id_users")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_tenant_signing_keys_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenant_signing_keys")),
    )
    op.create_index(
        op.f("ix_tenant_signing_keys_project_id"), "tenant_signing_keys", ["project_id"]
    )


def downgrade() -> None:
    op.drop_table("tenant_signing_keys")
