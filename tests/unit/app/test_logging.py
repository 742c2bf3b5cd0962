"""A log line that cannot be written is dropped without an error."""

import io
from pathlib import Path

import pytest

from hoglet.app.startup.logging import LineLogger


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
