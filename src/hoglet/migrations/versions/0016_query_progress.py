"""How much the engine had read when a background query ended."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("query_runs") as table:
        table.add_column(sa.Column("progress", hoglet.store.database.JsonText(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("query_runs") as table:
        table.drop_column("progress")
