"""Keys created through the API: who created them, and when they were rolled."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("is_made_by_api", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("personal_api_keys", column)
    with op.batch_alter_table("project_secret_keys") as table:
        table.add_column(sa.Column("created_by_id", sa.Integer(), nullable=True))
        table.add_column(
            sa.Column(
                "last_rolled_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True
            )
        )
        table.create_foreign_key(
            op.f("fk_project_secret_keys_created_by_id_users"), "users", ["created_by_id"], ["id"]
        )


def downgrade() -> None:
    with op.batch_alter_table("project_secret_keys") as table:
        table.drop_constraint(
            op.f("fk_project_secret_keys_created_by_id_users"), type_="foreignkey"
        )
        table.drop_column("last_rolled_at")
        table.drop_column("created_by_id")
    op.drop_column("personal_api_keys", "is_made_by_api")
