-- Members of cohorts by calculation: queries read the rows of the last finished one, so that a
-- calculation that runs, or was killed, is never seen. It stands in for cohort_people, whose key
-- has no room for two calculations of one cohort.
-- distributed by: cityHash64(person_id)
CREATE TABLE IF NOT EXISTS cohort_members${local} ${on_cluster} (
    project_id Int64,
    cohort_id Int64,
    calculation_id Int64,
    person_id UUID,
    is_deleted UInt8,
    revision UInt64
)
ENGINE = ${replicated}ReplacingMergeTree(${replica}revision)
ORDER BY (project_id, cohort_id, calculation_id, person_id)
SETTINGS ${durable}
