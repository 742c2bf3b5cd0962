"""Receivers of fault tests, and two servers of one installation."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from support.nats_server import NatsServer
from support.receiver import Receiver
from support.server import RunningServer, started
from support.warehouses import new_clickhouse_database


@pytest.fixture
def receiver() -> Generator[Receiver]:
    opened = Receiver()
    yield opened
    opened.close()


@pytest.fixture
def shared(postgres_url: str, clickhouse_server: str) -> Generator[dict[str, Any]]:
    """Settings that two servers share."""
    with new_clickhouse_database(clickhouse_server) as warehouse:
        yield {
            "database_url": postgres_url,
            "warehouse_url": warehouse,
            "secret_keys": Fernet.generate_key().decode(),
        }


@pytest.fixture
def pair(tmp_path: Path, shared: dict[str, Any]) -> Generator[list[RunningServer]]:
    servers = [RunningServer(tmp_path / name, **shared) for name in ("a", "b")]
    with started(servers):
        yield servers


@pytest.fixture
def nats_pair(
    tmp_path: Path, shared: dict[str, Any], own_nats: NatsServer
) -> Generator[list[RunningServer]]:
    """:func:`pair` with the spool on a broker."""
    shared["spool_url"] = own_nats.url()
    servers = [RunningServer(tmp_path / name, **shared) for name in ("a", "b")]
    with started(servers):
        yield servers
