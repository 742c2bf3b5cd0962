"""initial."""

import sqlalchemy as sa
from alembic import op

import hoglet.store.database

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "actions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("steps", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_actions")),
    )
    op.create_index(op.f("ix_actions_project_id"), "actions", ["project_id"], unique=False)
    op.create_table(
        "event_definitions",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column(
            "first_seen_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False
        ),
        sa.PrimaryKeyConstraint("project_id", "name", name=op.f("pk_event_definitions")),
    )
    op.create_table(
        "group_types",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("group_type", sa.String(length=400), nullable=False),
        sa.Column("group_index", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "group_type", name=op.f("pk_group_types")),
    )
    op.create_table(
        "groups",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("group_index", sa.SmallInteger(), nullable=False),
        sa.Column("group_key", sa.String(length=400), nullable=False),
        sa.Column("properties", sa.Text(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "group_index", "group_key", name=op.f("pk_groups")),
    )
    op.create_table(
        "hog_functions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.Column("hog", sa.Text(), nullable=False),
        sa.Column("bytecode", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("transpiled", sa.Text(), nullable=True),
        sa.Column("inputs_schema", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("inputs", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("secrets", sa.Text(), nullable=True),
        sa.Column("filters", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("matcher", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("masking", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("mappings", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("mapping_secrets", sa.Text(), nullable=True),
        sa.Column("icon_url", sa.Text(), nullable=True),
        sa.Column("template_id", sa.String(length=400), nullable=True),
        sa.Column("execution_order", sa.Integer(), nullable=True),
        sa.Column("retry", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("folder", sa.Text(), nullable=True),
        sa.Column("batch_export_id", sa.Uuid(), nullable=True),
        sa.Column("state", sa.Integer(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hog_functions")),
    )
    op.create_index(
        op.f("ix_hog_functions_project_id"), "hog_functions", ["project_id"], unique=False
    )
    op.create_index(
        op.f("ix_hog_functions_project_id_deleted_type"),
        "hog_functions",
        ["project_id", "deleted", "type"],
        unique=False,
    )
    op.create_table(
        "ingestion_warnings",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=60), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("example", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("last_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "kind", "day", name=op.f("pk_ingestion_warnings")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("queue", sa.String(length=100), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("run_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("enqueued_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("ordering_key", sa.String(length=200), nullable=True),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("lane", sa.String(length=200), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("retries", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("leased_until", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("lease", sa.Uuid(), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("buried_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index("ix_jobs_due", "jobs", ["queue", "priority", "run_at", "id"], unique=False)
    op.create_index("ix_jobs_group_id", "jobs", ["group_id"], unique=False)
    op.create_index("ix_jobs_lease_owner", "jobs", ["lease_owner"], unique=False)
    op.create_index("ix_jobs_leased", "jobs", ["queue", "leased_until"], unique=False)
    op.create_table(
        "organizations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("slug", sa.String(length=200), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organizations")),
        sa.UniqueConstraint("slug", name=op.f("uq_organizations_slug")),
    )
    op.create_table(
        "person_distinct_ids",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("distinct_id", sa.String(length=200), nullable=False),
        sa.Column("person_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "distinct_id", name=op.f("pk_person_distinct_ids")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_person_distinct_ids_person",
        "person_distinct_ids",
        ["project_id", "person_id"],
        unique=False,
    )
    op.create_table(
        "persons",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("properties", sa.Text(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("is_identified", sa.Boolean(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", "project_id", name=op.f("pk_persons")),
    )
    op.create_table(
        "property_definitions",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("scope", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=False),
        sa.Column("property_type", sa.String(length=10), nullable=False),
        sa.Column(
            "first_seen_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "scope", "name", name=op.f("pk_property_definitions")
        ),
    )
    op.create_table(
        "seen_events",
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("event_uuid", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "event_uuid", name=op.f("pk_seen_events")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "telemetry_outbox",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("flush", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_telemetry_outbox")),
    )
    op.create_index(op.f("ix_telemetry_outbox_flush"), "telemetry_outbox", ["flush"], unique=False)
    op.create_table(
        "hog_function_batch_exports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("function_id", sa.Uuid(), nullable=False),
        sa.Column("filters", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["function_id"],
            ["hog_functions.id"],
            name=op.f("fk_hog_function_batch_exports_function_id_hog_functions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hog_function_batch_exports")),
    )
    op.create_index(
        op.f("ix_hog_function_batch_exports_project_id"),
        "hog_function_batch_exports",
        ["project_id"],
        unique=False,
    )
    op.create_table(
        "hog_function_dead_letters",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("function_id", sa.Uuid(), nullable=False),
        sa.Column("letter_class", sa.String(length=20), nullable=False),
        sa.Column("invocation_id", sa.Uuid(), nullable=False),
        sa.Column("event_uuid", sa.String(length=100), nullable=True),
        sa.Column("event", sa.Text(), nullable=True),
        sa.Column("distinct_id", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("globals", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("mapping", sa.Integer(), nullable=True),
        sa.Column(
            "first_failed_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False
        ),
        sa.Column(
            "last_failed_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False
        ),
        sa.Column("redriven_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["function_id"],
            ["hog_functions.id"],
            name=op.f("fk_hog_function_dead_letters_function_id_hog_functions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hog_function_dead_letters")),
    )
    op.create_index(
        op.f("ix_hog_function_dead_letters_function_id_last_failed_at"),
        "hog_function_dead_letters",
        ["function_id", "last_failed_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_hog_function_dead_letters_invocation_id"),
        "hog_function_dead_letters",
        ["invocation_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_hog_function_dead_letters_last_failed_at"),
        "hog_function_dead_letters",
        ["last_failed_at"],
        unique=False,
    )
    op.create_table(
        "hog_function_masks",
        sa.Column("function_id", sa.Uuid(), nullable=False),
        sa.Column("hash", sa.String(length=32), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["function_id"],
            ["hog_functions.id"],
            name=op.f("fk_hog_function_masks_function_id_hog_functions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("function_id", "hash", name=op.f("pk_hog_function_masks")),
    )
    op.create_index(
        op.f("ix_hog_function_masks_expires_at"), "hog_function_masks", ["expires_at"], unique=False
    )
    op.create_table(
        "hog_function_watchers",
        sa.Column("function_id", sa.Uuid(), nullable=False),
        sa.Column("tokens", sa.Double(), nullable=False),
        sa.Column("tokens_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("locked_until", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("recent", hoglet.store.database.JsonText(), nullable=False),
        sa.ForeignKeyConstraint(
            ["function_id"],
            ["hog_functions.id"],
            name=op.f("fk_hog_function_watchers_function_id_hog_functions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("function_id", name=op.f("pk_hog_function_watchers")),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("api_token", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("timezone", sa.String(length=100), nullable=False),
        sa.Column("app_urls", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("test_account_filters", hoglet.store.database.JsonText(), nullable=False),
        sa.Column(
            "person_display_name_properties", hoglet.store.database.JsonText(), nullable=True
        ),
        sa.Column("anonymize_ips", sa.Boolean(), nullable=False),
        sa.Column("is_demo", sa.Boolean(), nullable=False),
        sa.Column("ingested_event", sa.Boolean(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_projects_organization_id_organizations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("api_token", name=op.f("uq_projects_api_token")),
        sa.UniqueConstraint("uuid", name=op.f("uq_projects_uuid")),
    )
    op.create_index(
        op.f("ix_projects_organization_id"), "projects", ["organization_id"], unique=False
    )
    op.create_table(
        "hog_function_backfills",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("batch_export_id", sa.Uuid(), nullable=False),
        sa.Column("start_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("end_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_export_id"],
            ["hog_function_batch_exports.id"],
            name=op.f("fk_hog_function_backfills_batch_export_id_hog_function_batch_exports"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hog_function_backfills")),
    )
    op.create_index(
        op.f("ix_hog_function_backfills_batch_export_id"),
        "hog_function_backfills",
        ["batch_export_id"],
        unique=False,
    )
    op.create_table(
        "project_secret_keys",
        sa.Column("id", sa.String(length=50), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("mask_value", sa.String(length=20), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_secret_keys_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project_secret_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_project_secret_keys_key_hash")),
    )
    op.create_index(
        op.f("ix_project_secret_keys_project_id"),
        "project_secret_keys",
        ["project_id"],
        unique=False,
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("uuid", sa.Uuid(), nullable=False),
        sa.Column("distinct_id", sa.String(length=200), nullable=False),
        sa.Column("first_name", sa.String(length=150), nullable=False),
        sa.Column("last_name", sa.String(length=150), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("is_email_verified", sa.Boolean(), nullable=True),
        sa.Column("is_staff", sa.Boolean(), nullable=False),
        sa.Column("hedgehog_config", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("theme_mode", sa.String(length=20), nullable=True),
        sa.Column("current_project_id", sa.Integer(), nullable=True),
        sa.Column("date_joined", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["current_project_id"],
            ["projects.id"],
            name=op.f("fk_users_current_project_id_projects"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("distinct_id", name=op.f("uq_users_distinct_id")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
        sa.UniqueConstraint("uuid", name=op.f("uq_users_uuid")),
    )
    op.create_table(
        "activity_log",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("activity", sa.String(length=100), nullable=False),
        sa.Column("scope", sa.String(length=100), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=True),
        sa.Column("detail", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_activity_log_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_activity_log_user_id_users")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_activity_log")),
    )
    op.create_index(
        "ix_activity_log_item",
        "activity_log",
        ["project_id", "scope", "item_id", "id"],
        unique=False,
    )
    op.create_table(
        "endpoints",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("live_name", sa.String(length=128), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("current_version", sa.Integer(), nullable=False),
        sa.Column("derived_from_insight", sa.String(length=12), nullable=True),
        sa.Column("tags", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column(
            "last_executed_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name=op.f("fk_endpoints_created_by_id_users")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_endpoints_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_endpoints")),
        sa.UniqueConstraint(
            "project_id", "live_name", name=op.f("uq_endpoints_project_id_live_name")
        ),
    )
    op.create_index(op.f("ix_endpoints_project_id"), "endpoints", ["project_id"], unique=False)
    op.create_table(
        "insight_variables",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=False),
        sa.Column("code_name", sa.String(length=400), nullable=False),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("default_value", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("values", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name=op.f("fk_insight_variables_created_by_id_users")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_insight_variables_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_insight_variables")),
        sa.UniqueConstraint(
            "project_id", "code_name", name=op.f("uq_insight_variables_project_id_code_name")
        ),
    )
    op.create_table(
        "memberships",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_memberships_organization_id_organizations"),
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_memberships_user_id_users")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memberships")),
        sa.UniqueConstraint(
            "organization_id", "user_id", name=op.f("uq_memberships_organization_id_user_id")
        ),
    )
    op.create_index(op.f("ix_memberships_user_id"), "memberships", ["user_id"], unique=False)
    op.create_table(
        "personal_api_keys",
        sa.Column("id", sa.String(length=50), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("mask_value", sa.String(length=20), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("scoped_teams", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("scoped_organizations", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column(
            "last_rolled_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_personal_api_keys_user_id_users")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_personal_api_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_personal_api_keys_key_hash")),
    )
    op.create_index(
        op.f("ix_personal_api_keys_user_id"), "personal_api_keys", ["user_id"], unique=False
    )
    op.create_table(
        "endpoint_runs",
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("query_id", sa.String(length=200), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("execution_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("request", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        sa.Column("failure", hoglet.store.database.JsonText(), nullable=True),
        sa.Column("started_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("picked_up_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("ended_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.Column("expires_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["endpoint_id"], ["endpoints.id"], name=op.f("fk_endpoint_runs_endpoint_id_endpoints")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_endpoint_runs_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("endpoint_id", "query_id", name=op.f("pk_endpoint_runs")),
    )
    op.create_index(
        op.f("ix_endpoint_runs_expires_at"), "endpoint_runs", ["expires_at"], unique=False
    )
    op.create_table(
        "endpoint_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("query", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("analysis", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("cache_age_seconds", sa.Integer(), nullable=True),
        sa.Column("data_freshness_seconds", sa.Integer(), nullable=False),
        sa.Column("sync_frequency", sa.String(length=10), nullable=True),
        sa.Column("bucket_overrides", hoglet.store.database.JsonText(), nullable=True),
        sa.Column(
            "optional_breakdown_properties", hoglet.store.database.JsonText(), nullable=False
        ),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("updated_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column(
            "last_executed_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name=op.f("fk_endpoint_versions_created_by_id_users")
        ),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["endpoints.id"],
            name=op.f("fk_endpoint_versions_endpoint_id_endpoints"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_endpoint_versions")),
        sa.UniqueConstraint(
            "endpoint_id", "number", name=op.f("uq_endpoint_versions_endpoint_id_number")
        ),
    )
    op.create_table(
        "endpoint_materializations",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("saved_query_id", sa.Uuid(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("plan", hoglet.store.database.JsonText(), nullable=False),
        sa.Column("table_name", sa.String(length=200), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("schedule", sa.Uuid(), nullable=False),
        sa.Column("enabled_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("last_built_at", hoglet.store.database.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["endpoints.id"],
            name=op.f("fk_endpoint_materializations_endpoint_id_endpoints"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_endpoint_materializations_project_id_projects"),
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["endpoint_versions.id"],
            name=op.f("fk_endpoint_materializations_version_id_endpoint_versions"),
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_endpoint_materializations")),
    )
    op.create_index(
        "ix_endpoint_materializations_endpoint",
        "endpoint_materializations",
        ["endpoint_id"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_index("ix_endpoint_materializations_endpoint", table_name="endpoint_materializations")
    op.drop_table("endpoint_materializations")
    op.drop_table("endpoint_versions")
    op.drop_index(op.f("ix_endpoint_runs_expires_at"), table_name="endpoint_runs")
    op.drop_table("endpoint_runs")
    op.drop_index(op.f("ix_personal_api_keys_user_id"), table_name="personal_api_keys")
    op.drop_table("personal_api_keys")
    op.drop_index(op.f("ix_memberships_user_id"), table_name="memberships")
    op.drop_table("memberships")
    op.drop_table("insight_variables")
    op.drop_index(op.f("ix_endpoints_project_id"), table_name="endpoints")
    op.drop_table("endpoints")
    op.drop_index("ix_activity_log_item", table_name="activity_log")
    op.drop_table("activity_log")
    op.drop_table("users")
    op.drop_index(op.f("ix_project_secret_keys_project_id"), table_name="project_secret_keys")
    op.drop_table("project_secret_keys")
    op.drop_index(
        op.f("ix_hog_function_backfills_batch_export_id"), table_name="hog_function_backfills"
    )
    op.drop_table("hog_function_backfills")
    op.drop_index(op.f("ix_projects_organization_id"), table_name="projects")
    op.drop_table("projects")
    op.drop_table("hog_function_watchers")
    op.drop_index(op.f("ix_hog_function_masks_expires_at"), table_name="hog_function_masks")
    op.drop_table("hog_function_masks")
    op.drop_index(
        op.f("ix_hog_function_dead_letters_last_failed_at"), table_name="hog_function_dead_letters"
    )
    op.drop_index(
        op.f("ix_hog_function_dead_letters_invocation_id"), table_name="hog_function_dead_letters"
    )
    op.drop_index(
        op.f("ix_hog_function_dead_letters_function_id_last_failed_at"),
        table_name="hog_function_dead_letters",
    )
    op.drop_table("hog_function_dead_letters")
    op.drop_index(
        op.f("ix_hog_function_batch_exports_project_id"), table_name="hog_function_batch_exports"
    )
    op.drop_table("hog_function_batch_exports")
    op.drop_index(op.f("ix_telemetry_outbox_flush"), table_name="telemetry_outbox")
    op.drop_table("telemetry_outbox")
    op.drop_table("seen_events")
    op.drop_table("property_definitions")
    op.drop_table("persons")
    op.drop_index("ix_person_distinct_ids_person", table_name="person_distinct_ids")
    op.drop_table("person_distinct_ids")
    op.drop_table("organizations")
    op.drop_index("ix_jobs_leased", table_name="jobs")
    op.drop_index("ix_jobs_lease_owner", table_name="jobs")
    op.drop_index("ix_jobs_group_id", table_name="jobs")
    op.drop_index("ix_jobs_due", table_name="jobs")
    op.drop_table("jobs")
    op.drop_table("ingestion_warnings")
    op.drop_index(op.f("ix_hog_functions_project_id_deleted_type"), table_name="hog_functions")
    op.drop_index(op.f("ix_hog_functions_project_id"), table_name="hog_functions")
    op.drop_table("hog_functions")
    op.drop_table("groups")
    op.drop_table("group_types")
    op.drop_table("event_definitions")
    op.drop_index(op.f("ix_actions_project_id"), table_name="actions")
    op.drop_table("actions")
