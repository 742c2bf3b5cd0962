-- Captured events. properties is the truth (raw JSON text, exact round trip); properties_json is
-- what queries read, 13 times faster. Text that the JSON type cannot hold (1e400) gives {} there.
-- distributed by: cityHash64(distinct_id)
CREATE TABLE IF NOT EXISTS events${local} ${on_cluster} (
    project_id Int64,
    uuid UUID,
    event String,
    properties String CODEC(ZSTD(3)),
    properties_json JSON(max_dynamic_paths=${paths}) DEFAULT accurateCastOrDefault(properties, 'JSON(max_dynamic_paths=${paths})'),
    timestamp DateTime64(6, 'UTC'),
    distinct_id String,
    person_id UUID,
    person_properties String DEFAULT '{}' CODEC(ZSTD(3)),
    person_properties_json JSON(max_dynamic_paths=${paths}) DEFAULT accurateCastOrDefault(person_properties, 'JSON(max_dynamic_paths=${paths})'),
    person_mode LowCardinality(String) DEFAULT 'full',
    elements_chain String,
    created_at DateTime64(6, 'UTC') DEFAULT now64(6),
    `$$session_id` String,
    `$$window_id` String,
    `$$group_0` String,
    `$$group_1` String,
    `$$group_2` String,
    `$$group_3` String,
    `$$group_4` String
)
ENGINE = ${replicated}MergeTree${path}
PARTITION BY toYYYYMM(timestamp)
ORDER BY (project_id, toDate(timestamp), event, cityHash64(distinct_id), uuid)
SETTINGS ${durable}
