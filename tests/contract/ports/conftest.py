"""The contract of warehouses holds for both: embedded, and a server behind HTTP."""

import pytest

from hoglet.warehouse import ClickHouseWarehouse
from support.warehouses import SERVER


@pytest.fixture(scope="session", params=["embedded", "clickhouse"])
def warehouse(request: pytest.FixtureRequest) -> ClickHouseWarehouse:
    """A warehouse with all tables, once of each kind; never assume a table is empty."""
    return request.getfixturevalue(f"{request.param}_warehouse")


@pytest.fixture
def is_double() -> None:
    """Skip on real servers, which do not have the double's users."""
    if SERVER not in {"", "double"}:
        pytest.skip("the server does not have the double's users")
