"""Limits and order of deliveries, pauses requested by hosts, progress of backfills."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NUMBERS = ("events_queued", "runs_succeeded", "runs_failed")


def upgrade() -> None:
    with op.batch_alter_table("hog_functions") as table:
        table.add_column(sa.Column("delivery", hoglet.store.database.JsonText(), nullable=True))
    op.create_table(
        "hog_function_pauses",
        sa.Column("function_id", sa.Uuid(), nullable=False),
        sa.Column("host", sa.String(length=400), nullable=False),
        sa.Column("until", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["function_id"],
            ["hog_functions.id"],
            name=op.f("fk_hog_function_pauses_function_id_hog_functions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("function_id", "host", name=op.f("pk_hog_function_pauses")),
    )
    op.create_index(op.f("ix_hog_function_pauses_until"), "hog_function_pauses", ["until"])
    op.create_table(
        "ordered_runs",
        sa.Column(
            "place",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("line", sa.String(length=200), nullable=False),
        sa.Column("invocation_id", sa.Uuid(), nullable=False),
        sa.Column("lane", sa.String(length=200), nullable=True),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_ordered_runs")),
        sa.UniqueConstraint("invocation_id", name=op.f("uq_ordered_runs_invocation_id")),
    )
    op.create_index(op.f("ix_ordered_runs_line_place"), "ordered_runs", ["line", "place"])
    with op.batch_alter_table("hog_function_backfills") as table:
        for name in ("finished_at", "after_at"):
            kind = hoglet.store.database.UtcDateTime(timezone=True)
            table.add_column(sa.Column(name, kind, nullable=True))
        table.add_column(sa.Column("after_uuid", sa.Uuid(), nullable=True))
        table.add_column(sa.Column("events_total", sa.BigInteger(), nullable=True))
        for name in ("with_filters", "all_read"):
            column = sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False)
            table.add_column(column)
        for name in _NUMBERS:
            column = sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)
            table.add_column(column)


def downgrade() -> None:
    with op.batch_alter_table("hog_function_backfills") as table:
        for name in ("finished_at", "after_at", "after_uuid", "events_total"):
            table.drop_column(name)
        for name in ("with_filters", "all_read", *_NUMBERS):
            table.drop_column(name)
    op.drop_table("ordered_runs")
    op.drop_table("hog_function_pauses")
    with op.batch_alter_table("hog_functions") as table:
        table.drop_column("delivery")
