"""How failures of the pipeline affect readiness."""

from uuid import uuid4

import pytest
from prometheus_client import CollectorRegistry

from hoglet.pipeline.health import PipelineHealth
from hoglet.warehouse.errors import WarehouseDown


@pytest.fixture
def health() -> PipelineHealth:
    return PipelineHealth(CollectorRegistry())


def test_a_failure_of_one_worker_is_not_hidden_by_an_idle_one(health: PipelineHealth) -> None:
    health.failed("events", WarehouseDown("no connection"), worker=1)
    health.works("events", worker=0)
    health.group_stored(uuid4(), worker=0)
    assert health.problem() == "events cannot be written: WarehouseDown: no connection"

    health.works("events", worker=1)
    assert health.problem() is None


def test_parts_fail_apart(health: PipelineHealth) -> None:
    health.failed("events", OSError("disk"), worker=0)
    health.failed("persons", OSError("full"))
    health.group_stored(uuid4(), worker=0)

    assert health.problem() == "persons cannot be written: OSError: full"
