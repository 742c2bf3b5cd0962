-- Runs of endpoints.
-- distributed by: cityHash64(endpoint)
CREATE TABLE IF NOT EXISTS query_log${local} ${on_cluster} (
    project_id Int64,
    query_id String,
    endpoint String,
    version Int64,
    name String,
    query String CODEC(ZSTD(3)),
    event_time DateTime64(6, 'UTC'),
    query_start_time DateTime64(6, 'UTC'),
    query_duration_ms Int64,
    read_rows Int64,
    read_bytes Int64,
    result_rows Int64,
    status LowCardinality(String),
    exception String,
    is_cached UInt8,
    is_materialized UInt8,
    created_by Int64,
    is_personal_api_key_request UInt8
)
ENGINE = ${replicated}MergeTree${path}
PARTITION BY toYYYYMM(event_time)
ORDER BY (project_id, event_time, query_id)
TTL toDateTime(event_time) + INTERVAL ${query_days} DAY
SETTINGS ${durable}
