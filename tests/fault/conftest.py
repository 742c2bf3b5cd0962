"""Receivers of fault tests, and what servers of one installation share."""

from collections.abc import Generator
from typing import Any

import pytest
from cryptography.fernet import Fernet

from support.receiver import Receiver
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
