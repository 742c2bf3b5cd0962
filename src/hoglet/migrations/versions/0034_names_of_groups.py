"""Groups of the spool log that are named after all of their entries, and who knows them."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("spool_positions", sa.Column("named_by_members", sa.Boolean(), nullable=True))
    op.add_column("spool_owners", sa.Column("names_members", sa.Boolean(), nullable=True))


def downgrade() -> None:
    op.drop_column("spool_owners", "names_members")
    op.drop_column("spool_positions", "named_by_members")
