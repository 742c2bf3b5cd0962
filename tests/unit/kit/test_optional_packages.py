"""Optional packages of dependencies stay unloaded until something needs them."""

import subprocess
import sys

import pytest

from hoglet.kit.optional_packages import without


def test_a_hidden_package_can_be_imported_afterwards() -> None:
    sys.modules.pop("colorsys", None)

    with without("colorsys"), pytest.raises(ImportError):
        __import__("colorsys")

    __import__("colorsys")


def test_a_loaded_package_stays() -> None:
    with without("json"):
        import json

    assert sys.modules["json"] is json


def test_a_package_is_not_hidden_after_an_error() -> None:
    with pytest.raises(ValueError, match="failed"), without("no_such_package"):
        raise ValueError("failed")

    assert "no_such_package" not in sys.modules


def test_a_server_on_sqlite_does_without_the_dialect_of_postgresql() -> None:
    dialect = "sqlalchemy.dialects.postgresql"
    assert _loaded("import hoglet.app.run", "", dialect) == "False"


def test_the_embedded_engine_opens_without_pyarrow() -> None:
    """chDB imports pyarrow only for Arrow tables, which the server never requests."""
    assert _loaded("from hoglet.warehouse.clients import *", _CONNECT, "pyarrow") == "False"


def test_arrow_works_beside_the_embedded_engine() -> None:
    assert (
        _loaded(f"from hoglet.warehouse.clients import *\n{_CONNECT}", _ARROW, "pyarrow") == "True"
    )


_CONNECT = """
from hoglet.warehouse.port import QueryBudget
pool = ConnectionPool("chdb://:memory:", query_memory_bytes=100_000_000)
client = pool.take(QueryBudget(), 1)
assert client.query("SELECT 1").result_rows == [(1,)]
"""
_ARROW = """
import pyarrow
assert pyarrow.array([1]).to_pylist() == [1]
"""


def _loaded(imports: str, code: str, package: str) -> str:
    program = f"{imports}\n{code}\nimport sys\nprint({package!r} in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
