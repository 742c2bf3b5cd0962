"""What sandbox workers can do; named as text, since only the workers import it."""

_FUNCTIONS = {
    "functions.compile": "hoglet.functions.worker_operations:compile_function",
    "functions.run_step": "hoglet.functions.worker_operations:run_step",
    "functions.match": "hoglet.functions.worker_operations:match",
    "functions.transform": "hoglet.functions.worker_operations:transform_event",
}
_ENDPOINTS = {
    "endpoints.compile": "hoglet.endpoints.worker.operations:compile_run",
    "endpoints.analyse": "hoglet.endpoints.worker.operations:analyze",
    "endpoints.compile_build": "hoglet.endpoints.worker.operations:compile_build",
    "endpoints.compile_read": "hoglet.endpoints.worker.operations:compile_read",
    "endpoints.compile_insight": "hoglet.endpoints.worker.operations:compile_insight",
    "endpoints.preview": "hoglet.endpoints.worker.operations:preview",
    "endpoints.explain": "hoglet.endpoints.worker.operations:explain_refusal",
}
_QUERIES = {
    "queries.plan_events": "hoglet.queries.worker.operations:plan_events",
    "queries.inspect": "hoglet.queries.worker.operations:inspect",
    "queries.autocomplete": "hoglet.queries.worker.operations:complete",
}
_COHORTS = {
    "cohorts.compile": "hoglet.cohorts.worker_operations:compile_cohort",
    "cohorts.compile_persons": "hoglet.cohorts.worker_operations:compile_persons",
}

PIPELINE_OPERATIONS = {
    "pipeline.read": "hoglet.pipeline.ingest.worker_operations:read",
    "pipeline.act": "hoglet.pipeline.ingest.worker_operations:process",
    "pipeline.internal": "hoglet.pipeline.ingest.worker_operations:match_internal_event",
}

COMPILE_OPERATIONS = {**_FUNCTIONS, **_ENDPOINTS, **_QUERIES, **_COHORTS}
RUN_OPERATIONS = {
    **_FUNCTIONS,
    "pipeline.run_steps": "hoglet.pipeline.delivery.step_batcher:run_steps",
}
