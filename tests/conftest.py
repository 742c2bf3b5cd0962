"""Fixtures for all tests, and settings of property tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

# No example is late on a busy machine. In CI the same examples every time: a new find belongs to
# whoever runs the tests at home, not to the change that happens to be checked.
settings.register_profile(
    "any",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("ci", settings.get_profile("any"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "any")

pytest_plugins = [
    "support.sandboxes",
    "support.databases",
    "support.nats_server",
    "support.definitions",
    "support.warehouses",
    "support.endpoints",
    "support.queries",
    "support.cohorts",
    "support.filter_cases",
    "support.hog_alone",
    "support.hogql_world",
]


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their length: packed or sealed ones differ from process to process."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


_ENGINES = {
    "warehouse",
    "clickhouse_server",
    "postgres_server",
    "nats_broker",
    "own_nats",
    "hogql_world",
    "world",
    "vm",
    "oracle",
    "server",
}
"""Fixtures that start an engine, a server or another program."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need an engine, a server or a worker; ``make quick`` leaves them out."""
    for item in items:
        fixtures: set[str] = set(getattr(item, "fixturenames", ()))
        if fixtures & _ENGINES:
            item.add_marker("engine")
