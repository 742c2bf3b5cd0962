"""How failures of the pipeline affect readiness."""

from datetime import timedelta
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


@pytest.mark.parametrize(("pause", "fails_until"), [(4, 68), (300, 660)])
def test_a_group_that_another_server_stored_is_forgotten_soon(
    health: PipelineHealth, monkeypatch: pytest.MonkeyPatch, pause: int, fails_until: int
) -> None:
    """A server stayed unready for a quarter of an hour after the other had stored the group."""
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    health.group_failed(uuid4(), ValueError("no"), pause=timedelta(seconds=pause))

    now += fails_until - 1
    assert health.problem() == "1 groups of requests fail: ValueError: no"
    now += 1
    assert health.problem() is None
