"""Fixtures for all tests, and settings of property tests."""

import functools
import gc
import os
from collections.abc import Generator

import httpx
import hypothesis.internal.conjecture.providers
import pytest
import structlog
import typer.testing
from hypothesis import HealthCheck, settings

from support.measured import start_coverage

_coverage = start_coverage()

# Each client, and each httpx.get, reads the certificate authorities anew: 30 ms of processor time,
# more than most requests of tests take.
httpx._transports.default.create_ssl_context = functools.cache(httpx.create_ssl_context)

# Each command of a CliRunner builds the tree of all commands anew: 13 ms.
typer.testing._get_command = functools.cache(typer.testing._get_command)

# Logged errors as in a server, not drawn with all local variables: that takes a second or two each.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)

# No example is late on a busy machine. In CI the same examples every time: a new find belongs to
# whoever runs the tests at home, not to the change that happens to be checked.
settings.register_profile(
    "any",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("ci", settings.get_profile("any"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "any")
if os.environ.get("CI"):
    # Constants of the source are examples, too: other ones after each change of a file, and each
    # worker would parse all files for them.
    hypothesis.internal.conjecture.providers.is_local_module_file = lambda _path: False

pytest_plugins = [
    "support.xdist_workers",
    "support.sandboxes",
    "support.databases",
    "support.nats_server",
    "support.postgres_server",
    "support.postgres_standby",
    "support.small_disk",
    "support.warehouses",
    "support.definitions",
    "support.endpoints",
    "support.queries",
    "support.cohorts",
    "support.filter_cases",
    "support.hog_alone",
    "support.hogql_world",
]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector: it would walk thousands of tests again and again.

    They stay, so it does not look at them later either. Saves a fifth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their length: packed or encrypted ones differ from process to process."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


def pytest_sessionfinish() -> None:
    """Keep what was measured."""
    if _coverage:
        _coverage.stop()
        _coverage.save()


_ENGINES = {
    "warehouse",
    "clickhouse_server",
    "postgres_server",
    "nats_broker",
    "nats_cluster",
    "own_nats",
    "own_postgres",
    "replicated_postgres",
    "hogql_world",
    "world",
    "vm",
    "oracle",
    "server",
}
"""Fixtures that start an engine, a server or another program."""

_WAREHOUSES = {"warehouse", "clickhouse_server"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that need an engine, a server or a worker; ``make quick`` leaves them out.

    If a ClickHouse server is set, leave out what asks no warehouse: ``make test`` ran it.
    """
    for item in items:
        if " at 0x" in item.nodeid:  # workers could not agree on the tests
            raise pytest.UsageError(f"{item.nodeid} has an address in its id; give it ids=")
        if _fixtures(item) & _ENGINES:
            item.add_marker("engine")
    if os.environ.get("HOGLET_TEST_CLICKHOUSE_URL"):
        left_out = [item for item in items if not _fixtures(item) & _WAREHOUSES]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _fixtures(item) & _WAREHOUSES]


def _fixtures(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))
