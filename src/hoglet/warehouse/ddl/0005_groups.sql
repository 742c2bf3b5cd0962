-- Groups (companies, workspaces), the newest version of each.
-- distributed by: cityHash64(key)
CREATE TABLE IF NOT EXISTS groups${local} ${on_cluster} (
    project_id Int64,
    `index` UInt8,
    key String,
    created_at DateTime64(6, 'UTC'),
    updated_at DateTime64(6, 'UTC'),
    properties String CODEC(ZSTD(3)),
    properties_json JSON(max_dynamic_paths=${paths}) DEFAULT accurateCastOrDefault(properties, 'JSON(max_dynamic_paths=${paths})'),
    version UInt64
)
ENGINE = ${replicated}ReplacingMergeTree(${replica}version)
ORDER BY (project_id, `index`, key)
SETTINGS ${durable}
