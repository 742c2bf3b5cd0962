"""Log lines: one that cannot be written is dropped, an outage is one sentence."""

import io
import json
import sqlite3
from pathlib import Path

import pytest
import structlog
from sqlalchemy.exc import OperationalError

from hoglet.app.startup.logging import LineLogger, configure_logs
from hoglet.kit.errors import Unavailable
from hoglet.warehouse.errors import WarehouseDown


def test_a_full_disk_drops_lines_and_the_next_ones_are_written() -> None:
    class Full(io.StringIO):
        is_full = True

        def flush(self) -> None:
            if self.is_full:
                raise OSError(28, "No space left on device")

    stream = Full()
    logger = LineLogger(stream)
    logger.error("one")
    stream.is_full = False
    logger.error("two")

    assert stream.getvalue().splitlines()[-1] == "two"


def test_a_real_full_device_does_not_raise() -> None:
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("this system has no /dev/full")
    logger = LineLogger(device.open("w"))
    for _ in range(3):
        logger.error("x" * 100_000)


def test_a_closed_stream_does_not_raise() -> None:
    stream = io.StringIO()
    stream.close()

    LineLogger(stream).error("lost")


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]):
    before = structlog.get_config()
    configure_logs(level="info", style="json")
    yield lambda: json.loads(capsys.readouterr().err)
    structlog.configure(**before)


def _busy() -> OperationalError:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return OperationalError("INSERT INTO jobs VALUES (?)", ("a secret",), error)


def _fail(error: Exception) -> None:
    raise error


def _log(error: Exception) -> None:
    try:
        _fail(error)
    except (KeyError, OperationalError, Unavailable):
        structlog.get_logger().exception("leasing jobs failed", queue="spool")


def test_an_outage_of_the_database_is_one_sentence(logged) -> None:
    _log(_busy())

    line = logged()
    assert line["reason"] == "database is locked"
    assert "exception" not in line
    assert "secret" not in str(line)


def test_another_part_that_is_away_is_one_sentence_too(logged) -> None:
    _log(WarehouseDown("The warehouse is unreachable."))

    line = logged()
    assert line["reason"] == "The warehouse is unreachable."
    assert "exception" not in line


def test_any_other_failure_has_its_traceback(logged) -> None:
    _log(KeyError("x"))

    assert "KeyError" in logged()["exception"]
