"""Records which properties have values of only one form; unknown for existing properties."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("property_definitions") as table:
        table.add_column(
            sa.Column("is_uniform", sa.Boolean(), server_default=sa.false(), nullable=False)
        )


def downgrade() -> None:
    with op.batch_alter_table("property_definitions") as table:
        table.drop_column("is_uniform")
