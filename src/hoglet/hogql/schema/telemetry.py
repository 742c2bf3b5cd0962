"""hoglet's own tables, and PostHog tables that are empty here."""

from hoglet.hogql.schema.fields import Column, Field, Table
from hoglet.hogql.types import DATETIME, INTEGER, STRING

LOG_ENTRIES = Table(
    "log_entries",
    "log_entries",
    {
        "log_source": Column("log_source", STRING),
        "log_source_id": Column("log_source_id", STRING),
        "instance_id": Column("instance_id", STRING),
        "timestamp": Column("timestamp", DATETIME),
        "level": Column("level", STRING),
        "message": Column("message", STRING),
    },
    time="timestamp",
)

APP_METRICS = Table(
    "app_metrics",
    "app_metrics",
    {
        "timestamp": Column("timestamp", DATETIME),
        "app_source": Column("app_source", STRING),
        "app_source_id": Column("app_source_id", STRING),
        "instance_id": Column("instance_id", STRING),
        "metric_kind": Column("metric_kind", STRING),
        "metric_name": Column("metric_name", STRING),
        "count": Column("count", INTEGER),
    },
    time="timestamp",
)

_BATCH_LOG: dict[str, Field] = dict(LOG_ENTRIES.fields)

EMPTY: dict[str, dict[str, Field]] = {
    "session_replay_events": {
        "session_id": Column("session_id", STRING),
        "distinct_id": Column("distinct_id", STRING),
        "min_first_timestamp": Column("min_first_timestamp", DATETIME),
        "max_last_timestamp": Column("max_last_timestamp", DATETIME),
        "first_url": Column("first_url", STRING.or_null()),
        "click_count": Column("click_count", INTEGER),
        "keypress_count": Column("keypress_count", INTEGER),
        "mouse_activity_count": Column("mouse_activity_count", INTEGER),
        "active_milliseconds": Column("active_milliseconds", INTEGER),
        "console_log_count": Column("console_log_count", INTEGER),
        "console_warn_count": Column("console_warn_count", INTEGER),
        "console_error_count": Column("console_error_count", INTEGER),
        "size": Column("size", INTEGER),
        "event_count": Column("event_count", INTEGER),
        "message_count": Column("message_count", INTEGER),
    },
    "heatmaps": {
        "session_id": Column("session_id", STRING),
        "distinct_id": Column("distinct_id", STRING),
        "x": Column("x", INTEGER),
        "y": Column("y", INTEGER),
        "scale_factor": Column("scale_factor", INTEGER),
        "viewport_width": Column("viewport_width", INTEGER),
        "viewport_height": Column("viewport_height", INTEGER),
        "pointer_target_fixed": Column("pointer_target_fixed", INTEGER),
        "current_url": Column("current_url", STRING),
        "timestamp": Column("timestamp", DATETIME),
        "type": Column("type", STRING),
    },
    "batch_export_log_entries": _BATCH_LOG,
    "console_logs_log_entries": _BATCH_LOG,
}

QUERY_LOG = Table(
    "query_log",
    "query_log",
    {
        "query_id": Column("query_id", STRING),
        "endpoint": Column("endpoint", STRING),
        "version": Column("version", INTEGER),
        "query": Column("query", STRING),
        "event_time": Column("event_time", DATETIME),
        "query_start_time": Column("query_start_time", DATETIME),
        "query_duration_ms": Column("query_duration_ms", INTEGER),
        "read_rows": Column("read_rows", INTEGER),
        "read_bytes": Column("read_bytes", INTEGER),
        "result_rows": Column("result_rows", INTEGER),
        "status": Column("status", STRING),
        "exception": Column("exception", STRING),
        "is_cached": Column("is_cached", INTEGER),
        "is_materialized": Column("is_materialized", INTEGER),
        "created_by": Column("created_by", INTEGER),
        "name": Column("name", STRING),
        "is_personal_api_key_request": Column("is_personal_api_key_request", INTEGER),
    },
    time="event_time",
)
