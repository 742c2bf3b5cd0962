"""What sandbox workers can do; named as text, since only the workers import it."""

_FUNCTIONS = {
    "functions.compile": "hoglet.functions.operations:compile_function",
    "functions.run_step": "hoglet.functions.operations:run_step",
    "functions.match": "hoglet.functions.operations:match",
    "functions.transform": "hoglet.functions.operations:transform_event",
}
_ENDPOINTS = {
    "endpoints.compile": "hoglet.endpoints.operations:compile_run",
    "endpoints.analyse": "hoglet.endpoints.operations:analyse",
    "endpoints.compile_build": "hoglet.endpoints.operations:compile_build",
    "endpoints.compile_read": "hoglet.endpoints.operations:compile_read",
    "endpoints.compile_insight": "hoglet.endpoints.operations:compile_insight",
    "endpoints.preview": "hoglet.endpoints.operations:preview",
}

PIPELINE_OPERATIONS = {
    "pipeline.read": "hoglet.pipeline.operations:read",
    "pipeline.act": "hoglet.pipeline.operations:act_on",
    "pipeline.internal": "hoglet.pipeline.operations:match_internal_event",
}

COMPILE_OPERATIONS = {**_FUNCTIONS, **_ENDPOINTS}
RUN_OPERATIONS = {**_FUNCTIONS, "pipeline.run_steps": "hoglet.pipeline.stepping:run_steps"}
