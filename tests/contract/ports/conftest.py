"""The contract of warehouses holds for both: embedded, and a server behind HTTP."""

import pytest

from hoglet.warehouse import ClickHouseWarehouse


@pytest.fixture(scope="session", params=["embedded", "clickhouse"])
def warehouse(request: pytest.FixtureRequest) -> ClickHouseWarehouse:
    """A warehouse with all tables, once of each kind; never assume a table is empty."""
    return request.getfixturevalue(f"{request.param}_warehouse")
