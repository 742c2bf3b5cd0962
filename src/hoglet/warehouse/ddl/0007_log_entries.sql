-- Log lines of functions and endpoints.
-- distributed by: cityHash64(log_source_id)
CREATE TABLE IF NOT EXISTS log_entries${local} ${on_cluster} (
    project_id Int64,
    log_source LowCardinality(String),
    log_source_id String,
    instance_id String,
    timestamp DateTime64(6, 'UTC'),
    level LowCardinality(String),
    message String CODEC(ZSTD(3))
)
ENGINE = ${replicated}MergeTree${path}
PARTITION BY toYYYYMM(timestamp)
ORDER BY (project_id, log_source, log_source_id, timestamp)
TTL toDateTime(timestamp) + INTERVAL ${log_days} DAY
SETTINGS ${durable}
