-- Merges: the person of an event is the override of its distinct id, else the stored one.
-- distributed by: cityHash64(distinct_id)
CREATE TABLE IF NOT EXISTS person_distinct_id_overrides${local} ${on_cluster} (
    project_id Int64,
    distinct_id String,
    person_id UUID,
    is_deleted UInt8,
    version UInt64
)
ENGINE = ${replicated}ReplacingMergeTree(${replica}version)
ORDER BY (project_id, distinct_id)
SETTINGS ${durable}
