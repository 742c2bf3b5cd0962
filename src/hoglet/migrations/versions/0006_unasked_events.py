"""Numbers of events by name, for the counts of functions that listen to other names."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "unasked_events",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("names", sa.LargeBinary(), nullable=False),
        sa.Column("at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_unasked_events")),
    )


def downgrade() -> None:
    op.drop_table("unasked_events")
