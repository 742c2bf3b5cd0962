-- Counters of functions and endpoints; rows of one key and time may be summed by the engine.
-- distributed by: cityHash64(app_source_id)
CREATE TABLE IF NOT EXISTS app_metrics${local} ${on_cluster} (
    project_id Int64,
    timestamp DateTime64(6, 'UTC'),
    app_source LowCardinality(String),
    app_source_id String,
    instance_id String,
    metric_kind LowCardinality(String),
    metric_name LowCardinality(String),
    count Int64
)
ENGINE = ${replicated}MergeTree${path}
PARTITION BY toYYYYMM(timestamp)
ORDER BY (project_id, app_source, app_source_id, timestamp, metric_kind, metric_name)
TTL toDateTime(timestamp) + INTERVAL ${metric_days} DAY
SETTINGS ${durable}
