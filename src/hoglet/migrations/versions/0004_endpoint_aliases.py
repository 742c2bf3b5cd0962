"""Movable names of endpoint versions."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "endpoint_aliases",
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("alias", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_by_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["endpoints.id"],
            name=op.f("fk_endpoint_aliases_endpoint_id_endpoints"),
        ),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name=op.f("fk_endpoint_aliases_updated_by_id_users")
        ),
        sa.PrimaryKeyConstraint("endpoint_id", "alias", name=op.f("pk_endpoint_aliases")),
    )


def downgrade() -> None:
    op.drop_table("endpoint_aliases")
