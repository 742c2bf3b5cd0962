"""Definitions of properties and events with descriptions and tags, and each event's properties.

Types of group properties are stored per group type; types derived from keys (``utm_``) are fixed.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

import hoglet.store.database
from hoglet.kit.clock import new_id

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_FORMS = {"Boolean": "boolean", "Numeric": "number", "String": "text", "DateTime": "text"}
_TEXT_KEYS = ("utm_", "$initial_utm_", "$feature/", "$survey_response")


def upgrade() -> None:
    with op.batch_alter_table("projects") as table:
        table.add_column(
            sa.Column("definitions_version", sa.Integer(), server_default="0", nullable=False)
        )
    connection = op.get_bind()
    properties = connection.execute(sa.text("SELECT * FROM property_definitions")).mappings().all()
    events = connection.execute(sa.text("SELECT * FROM event_definitions")).mappings().all()
    indexes: dict[int, list[int]] = {}
    for row in connection.execute(sa.text("SELECT project_id, group_index FROM group_types")):
        indexes.setdefault(row[0], []).append(row[1])
    op.drop_table("property_definitions")
    op.drop_table("event_definitions")
    _create_tables()
    moved = [each for row in properties for each in _moved_property(row, indexes)]
    if moved:
        connection.execute(sa.insert(_PROPERTIES), moved)
    if events:
        connection.execute(sa.insert(_EVENTS), [_moved_event(row) for row in events])


def _moved_property(row: Any, indexes: dict[int, list[int]]) -> list[dict[str, Any]]:
    kinds = [row["scope"]]
    if row["scope"] == "group":
        kinds = [f"group_{index}" for index in indexes.get(row["project_id"], [])]
    type_ = row["property_type"] or None
    name = row["name"].lower()
    form = _FORMS.get(row["property_type"], "mixed") if row["is_uniform"] else "mixed"
    if name.startswith(_TEXT_KEYS) or name == "$feature_flag_response":
        type_ = "String"
    return [
        {
            "project_id": row["project_id"],
            "kind": kind,
            "name": row["name"],
            "id": new_id(),
            "property_type": type_,
            "form": form,
            "first_seen_at": _read_time(row["first_seen_at"]),
        }
        for kind in kinds
    ]


def _moved_event(row: Any) -> dict[str, Any]:
    seen_at = _read_time(row["first_seen_at"])
    return {
        "project_id": row["project_id"],
        "name": row["name"],
        "id": new_id(),
        "created_at": seen_at,
        "last_seen_at": seen_at,
    }


def _read_time(value: Any) -> Any:
    kind = hoglet.store.database.UtcDateTime()
    return kind.process_result_value(value, op.get_bind().dialect)


def _time(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, hoglet.store.database.UtcDateTime(timezone=True), nullable=nullable)


def _json(name: str) -> sa.Column[Any]:
    return sa.Column(name, hoglet.store.database.JsonText(), server_default="[]", nullable=False)


def _flag(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False)


def _user(table: str, name: str) -> list[Any]:
    key = op.f(f"fk_{table}_{name}_users")
    return [
        sa.Column(name, sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint([name], ["users.id"], name=key),
    ]


def _described(table: str) -> list[Any]:
    """The columns that both kinds of definitions have."""
    return [
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        _json("tags"),
        _flag("verified"),
        _time("verified_at"),
        *_user(table, "verified_by_id"),
        _flag("hidden"),
        _time("updated_at"),
        *_user(table, "updated_by_id"),
        sa.UniqueConstraint("id", name=op.f(f"uq_{table}_id")),
    ]


def _create_tables() -> None:
    op.create_table(
        "property_definitions",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=False),
        *_described("property_definitions"),
        sa.Column("property_type", sa.String(length=10), nullable=True),
        sa.Column("form", sa.String(length=10), server_default="mixed", nullable=False),
        _flag("is_deleted"),
        _time("first_seen_at", nullable=False),
        sa.Column("unconverted_share", sa.Float(), nullable=True),
        _time("measured_at"),
        sa.PrimaryKeyConstraint("project_id", "kind", "name", name=op.f("pk_property_definitions")),
    )
    op.create_table(
        "event_definitions",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=False),
        *_described("event_definitions"),
        *_user("event_definitions", "owner_id"),
        *_user("event_definitions", "created_by_id"),
        _json("default_columns"),
        _time("created_at"),
        _time("last_seen_at"),
        sa.PrimaryKeyConstraint("project_id", "name", name=op.f("pk_event_definitions")),
    )
    op.create_table(
        "event_properties",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.String(length=400), nullable=False),
        sa.Column("property", sa.String(length=400), nullable=False),
        sa.PrimaryKeyConstraint(
            "project_id", "event", "property", name=op.f("pk_event_properties")
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "dropped_definitions",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "kind", name=op.f("pk_dropped_definitions")),
    )


_PROPERTIES = sa.table(
    "property_definitions",
    sa.column("project_id"),
    sa.column("kind"),
    sa.column("name"),
    sa.column("id", sa.Uuid()),
    sa.column("property_type"),
    sa.column("form"),
    sa.column("first_seen_at", hoglet.store.database.UtcDateTime()),
)
_EVENTS = sa.table(
    "event_definitions",
    sa.column("project_id"),
    sa.column("name"),
    sa.column("id", sa.Uuid()),
    sa.column("created_at", hoglet.store.database.UtcDateTime()),
    sa.column("last_seen_at", hoglet.store.database.UtcDateTime()),
)


def downgrade() -> None:
    """Keep names and types; descriptions, tags and verifications are lost."""
    connection = op.get_bind()
    properties = connection.execute(
        sa.text(
            "SELECT project_id, kind, name, property_type, form, first_seen_at "
            "FROM property_definitions WHERE NOT is_deleted"
        )
    ).all()
    events = connection.execute(
        sa.text(
            "SELECT project_id, name, coalesce(created_at, last_seen_at) FROM event_definitions"
        )
    ).all()
    for table in (
        "dropped_definitions",
        "event_properties",
        "event_definitions",
        "property_definitions",
    ):
        op.drop_table(table)
    with op.batch_alter_table("projects") as table:
        table.drop_column("definitions_version")
    before = op.create_table(
        "property_definitions",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("scope", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=False),
        sa.Column("property_type", sa.String(length=10), nullable=False),
        _time("first_seen_at", nullable=False),
        _flag("is_uniform"),
        sa.PrimaryKeyConstraint(
            "project_id", "scope", "name", name=op.f("pk_property_definitions")
        ),
    )
    names = op.create_table(
        "event_definitions",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        _time("first_seen_at", nullable=False),
        sa.PrimaryKeyConstraint("project_id", "name", name=op.f("pk_event_definitions")),
    )
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for project_id, kind, name, type_, _, seen_at in properties:
        scope = "group" if kind.startswith("group") else kind
        merged.setdefault(
            (project_id, scope, name),
            {
                "project_id": project_id,
                "scope": scope,
                "name": name,
                "property_type": "" if type_ in {None, "Duration"} else type_,
                "is_uniform": False,
                "first_seen_at": _read_time(seen_at),
            },
        )
    if merged:
        connection.execute(sa.insert(before), list(merged.values()))
    event_rows = [
        {"project_id": project_id, "name": name[:200], "first_seen_at": _read_time(seen_at)}
        for project_id, name, seen_at in events
        if seen_at is not None and len(name) <= 200
    ]
    if event_rows:
        connection.execute(sa.insert(names), event_rows)
