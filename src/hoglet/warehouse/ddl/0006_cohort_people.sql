-- Members of cohorts.
-- distributed by: cityHash64(person_id)
CREATE TABLE IF NOT EXISTS cohort_people${local} ${on_cluster} (
    project_id Int64,
    cohort_id Int64,
    person_id UUID,
    version UInt64
)
ENGINE = ${replicated}ReplacingMergeTree(${replica}version)
ORDER BY (project_id, cohort_id, person_id)
SETTINGS ${durable}
