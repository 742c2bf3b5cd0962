"""What sandbox workers can do; named as text, since only the workers import it."""

_FUNCTIONS = {
    "functions.compile": "hoglet.functions.operations:compile_function",
    "functions.run_step": "hoglet.functions.operations:run_step",
}
_ENDPOINTS = {
    "endpoints.compile": "hoglet.endpoints.operations:compile_payload",
    "endpoints.analyse": "hoglet.endpoints.operations:analyse_payload",
}

COMPILE_OPERATIONS = {**_FUNCTIONS, **_ENDPOINTS}
RUN_OPERATIONS = {**_FUNCTIONS}
