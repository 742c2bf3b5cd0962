-- Persons, the newest version of each.
-- distributed by: cityHash64(id)
CREATE TABLE IF NOT EXISTS persons${local} ${on_cluster} (
    project_id Int64,
    id UUID,
    created_at DateTime64(6, 'UTC'),
    properties String CODEC(ZSTD(3)),
    properties_json JSON(max_dynamic_paths=${paths}) DEFAULT accurateCastOrDefault(properties, 'JSON(max_dynamic_paths=${paths})'),
    is_identified UInt8,
    is_deleted UInt8,
    version UInt64
)
ENGINE = ${replicated}ReplacingMergeTree(${replica}version)
ORDER BY (project_id, id)
SETTINGS ${durable}
