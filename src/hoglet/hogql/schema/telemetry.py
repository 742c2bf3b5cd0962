"""hoglet's own tables, and PostHog tables that are empty here."""

from hoglet.hogql.schema.fields import Field, LazyTable, StoredColumn, Table
from hoglet.hogql.types import DATETIME, INTEGER, STRING

LOG_ENTRIES = Table(
    "log_entries",
    "log_entries",
    {
        "log_source": StoredColumn("log_source", STRING),
        "log_source_id": StoredColumn("log_source_id", STRING),
        "instance_id": StoredColumn("instance_id", STRING),
        "timestamp": StoredColumn("timestamp", DATETIME),
        "level": StoredColumn("level", STRING),
        "message": StoredColumn("message", STRING),
    },
    time="timestamp",
)

APP_METRICS = Table(
    "app_metrics",
    "app_metrics",
    {
        "timestamp": StoredColumn("timestamp", DATETIME),
        "app_source": StoredColumn("app_source", STRING),
        "app_source_id": StoredColumn("app_source_id", STRING),
        "instance_id": StoredColumn("instance_id", STRING),
        "metric_kind": StoredColumn("metric_kind", STRING),
        "metric_name": StoredColumn("metric_name", STRING),
        "count": StoredColumn("count", INTEGER),
    },
    time="timestamp",
)

_BATCH_LOG: dict[str, Field] = dict(LOG_ENTRIES.fields)

_RECORDINGS: dict[str, Field] = {
    "session_id": StoredColumn("session_id", STRING),
    "distinct_id": StoredColumn("distinct_id", STRING),
    "min_first_timestamp": StoredColumn("min_first_timestamp", DATETIME),
    "max_last_timestamp": StoredColumn("max_last_timestamp", DATETIME),
    "start_time": StoredColumn("start_time", DATETIME),
    "end_time": StoredColumn("end_time", DATETIME),
    "first_url": StoredColumn("first_url", STRING.or_null()),
    "click_count": StoredColumn("click_count", INTEGER),
    "keypress_count": StoredColumn("keypress_count", INTEGER),
    "mouse_activity_count": StoredColumn("mouse_activity_count", INTEGER),
    "active_milliseconds": StoredColumn("active_milliseconds", INTEGER),
    "console_log_count": StoredColumn("console_log_count", INTEGER),
    "console_warn_count": StoredColumn("console_warn_count", INTEGER),
    "console_error_count": StoredColumn("console_error_count", INTEGER),
    "size": StoredColumn("size", INTEGER),
    "event_count": StoredColumn("event_count", INTEGER),
    "message_count": StoredColumn("message_count", INTEGER),
    "snapshot_source": StoredColumn("snapshot_source", STRING.or_null()),
    "snapshot_library": StoredColumn("snapshot_library", STRING.or_null()),
    "person": LazyTable("persons", ("distinct_id",), ("id",)),
    "pdi": LazyTable("person_distinct_ids", ("distinct_id",), ("distinct_id",)),
    "session": LazyTable("sessions", ("session_id",), ("session_id",), missing_is_null=True),
}

EMPTY: dict[str, dict[str, Field]] = {
    "session_replay_events": _RECORDINGS,
    "raw_session_replay_events": _RECORDINGS,
    "heatmaps": {
        "session_id": StoredColumn("session_id", STRING),
        "distinct_id": StoredColumn("distinct_id", STRING),
        "x": StoredColumn("x", INTEGER),
        "y": StoredColumn("y", INTEGER),
        "scale_factor": StoredColumn("scale_factor", INTEGER),
        "viewport_width": StoredColumn("viewport_width", INTEGER),
        "viewport_height": StoredColumn("viewport_height", INTEGER),
        "pointer_target_fixed": StoredColumn("pointer_target_fixed", INTEGER),
        "current_url": StoredColumn("current_url", STRING),
        "timestamp": StoredColumn("timestamp", DATETIME),
        "type": StoredColumn("type", STRING),
    },
    "batch_export_log_entries": _BATCH_LOG,
    "console_logs_log_entries": _BATCH_LOG,
}

QUERY_LOG = Table(
    "query_log",
    "query_log",
    {
        "query_id": StoredColumn("query_id", STRING),
        "endpoint": StoredColumn("endpoint", STRING),
        "version": StoredColumn("version", INTEGER),
        "query": StoredColumn("query", STRING),
        "event_time": StoredColumn("event_time", DATETIME),
        "query_start_time": StoredColumn("query_start_time", DATETIME),
        "query_duration_ms": StoredColumn("query_duration_ms", INTEGER),
        "read_rows": StoredColumn("read_rows", INTEGER),
        "read_bytes": StoredColumn("read_bytes", INTEGER),
        "result_rows": StoredColumn("result_rows", INTEGER),
        "status": StoredColumn("status", STRING),
        "exception": StoredColumn("exception", STRING),
        "is_cached": StoredColumn("is_cached", INTEGER),
        "is_materialized": StoredColumn("is_materialized", INTEGER),
        "created_by": StoredColumn("created_by", INTEGER),
        "name": StoredColumn("name", STRING),
        "is_personal_api_key_request": StoredColumn("is_personal_api_key_request", INTEGER),
    },
    time="event_time",
)
