"""What sandbox workers can do; named as text, since only the workers import it."""

COMPILE_OPERATIONS = {
    "functions.compile": "hoglet.functions.operations:compile_function",
    "functions.run_step": "hoglet.functions.operations:run_step",
}
RUN_OPERATIONS = {
    "functions.run_step": "hoglet.functions.operations:run_step",
}
