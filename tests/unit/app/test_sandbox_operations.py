"""Workers of the server know every operation that a feature calls."""

import pytest

from hoglet.app.sandbox_operations import (
    COMPILE_OPERATIONS,
    PIPELINE_OPERATIONS,
    RUN_OPERATIONS,
)
from hoglet.cohorts.worker_operations import OPERATIONS as COHORTS
from hoglet.endpoints.worker.operations import OPERATIONS as ENDPOINTS
from hoglet.functions.worker_operations import OPERATIONS as FUNCTIONS
from hoglet.pipeline.ingest.worker_operations import OPERATIONS as INGEST
from hoglet.queries.worker.operations import OPERATIONS as QUERIES


@pytest.mark.parametrize("operations", [FUNCTIONS, ENDPOINTS, QUERIES, COHORTS, INGEST])
def test_every_operation_is_registered(operations: dict[str, str]) -> None:
    registered = COMPILE_OPERATIONS | RUN_OPERATIONS | PIPELINE_OPERATIONS
    assert {name: registered.get(name) for name in operations} == operations


def test_nothing_else_is_registered() -> None:
    known = {**FUNCTIONS, **ENDPOINTS, **QUERIES, **COHORTS, **INGEST}
    others = (COMPILE_OPERATIONS | RUN_OPERATIONS | PIPELINE_OPERATIONS).keys() - known.keys()
    assert others == {"pipeline.run_steps"}
