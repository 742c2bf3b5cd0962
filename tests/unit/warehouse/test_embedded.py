"""Connections to the embedded engine share what the first one read about it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.engine

PROGRAM = """
from hoglet.warehouse.clients import ConnectionPool
from hoglet.warehouse.port import QueryBudget

pool = ConnectionPool("chdb://:memory:", query_memory_bytes=100_000_000)
first = pool.take(QueryBudget(seconds=5), 1)

from hoglet.warehouse.embedded import EmbeddedClient

query, read = EmbeddedClient._query_with_context, []
EmbeddedClient._query_with_context = lambda *given: read.append(given) or query(*given)
second = pool.take(QueryBudget(seconds=7), 2)
print(len(read), second.server_settings is first.server_settings, len(first.server_settings) > 1000)
print(second.query("SELECT getSetting('max_execution_time')").result_rows)
print(first.query("SELECT getSetting('max_threads')").result_rows)
"""


def test_later_connections_do_not_read_the_settings_of_the_engine() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    )

    assert done.stdout.splitlines() == ["0 True True", "[(7.0,)]", "[(1,)]"]
