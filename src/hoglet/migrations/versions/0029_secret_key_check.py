"""Which encryption keys belong to the database."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "secret_key_check",
        sa.Column("id", sa.SmallInteger(), nullable=False),
        sa.Column("encrypted", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_secret_key_check")),
    )


def downgrade() -> None:
    op.drop_table("secret_key_check")
