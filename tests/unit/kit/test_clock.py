"""Parsing timestamps of parameters, a clock that does not jump, and new ids."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID
from zoneinfo import ZoneInfo

import pytest

from hoglet.kit.clock import (
    FixedClock,
    SteadyClock,
    new_id,
    new_id_text,
    parse_instant,
    random_id_text,
)

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-01-05T12:00:00Z", NOON),
        ("2026-01-05T17:30:00+05:30", NOON),
        ("2026-01-05T17:30:00 05:30", NOON),  # a plus that a query string turned into a blank
        ("2026-01-05T17:30:00.000 0530", NOON),
        ("2026-01-05T12:00:00 00:00", NOON),
        ("2026-01-05 12:00:00", NOON),
        ("2026-01-05 00:00:00", NOON.replace(hour=0)),
        ("2026-01-05 00:00", NOON.replace(hour=0)),
        ("2026-01-05", NOON.replace(hour=0)),
    ],
)
def test_what_is_understood(text: str, instant: datetime):
    assert parse_instant(text) == instant


def test_a_zone_is_taken_for_texts_without_an_offset():
    zone = ZoneInfo("America/New_York")
    assert parse_instant("2026-01-05", zone) == NOON.replace(hour=5)
    assert parse_instant("2026-01-05T12:00:00Z", zone) == NOON


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "0001-01-01T00:00:00+23:00"])
def test_what_is_not(text: str):
    assert parse_instant(text) is None


@pytest.mark.parametrize("jump_s", [-3600, 3600])
def test_a_steady_clock_does_not_jump_with_the_machines(jump_s: int) -> None:
    machine = FixedClock(NOON)
    clock = SteadyClock(machine)
    first = clock.now()

    machine.advance(seconds=jump_s)

    assert NOON <= first <= clock.now() < NOON + timedelta(minutes=1)


def test_a_steady_clock_moves() -> None:
    clock = SteadyClock(FixedClock(NOON))
    first = clock.now()

    while clock.now() == first:
        pass

    assert clock.now() > first


def test_new_ids_are_version_7_and_of_this_moment():
    before = time.time_ns() // 1_000_000
    ids = [new_id() for _ in range(1000)] + [UUID(new_id_text()) for _ in range(1000)]
    after = time.time_ns() // 1_000_000
    assert len(set(ids)) == 2000
    assert {(each.version, each.variant) for each in ids} == {(7, RFC_4122)}
    assert all(before <= each.int >> 80 <= after for each in ids)
    assert [str(UUID(text)) == text for text in [new_id_text()]] == [True]
    for bit in (*range(62), *range(64, 76)):  # every random bit is used
        assert len({each.int >> bit & 1 for each in ids}) == 2


def test_random_ids_are_version_4():
    ids = [UUID(random_id_text()) for _ in range(2000)]
    assert len(set(ids)) == 2000
    assert {(each.version, each.variant) for each in ids} == {(4, RFC_4122)}
    for bit in (*range(62), *range(64, 76), *range(80, 128)):  # every random bit is used
        assert len({each.int >> bit & 1 for each in ids}) == 2


def test_threads_never_get_the_same_id():
    def many(_: int) -> list[UUID]:
        return [new_id() for _ in range(2000)]

    with ThreadPoolExecutor(8) as threads:
        ids = [each for some in threads.map(many, range(8)) for each in some]
    assert len({each.int & (1 << 76) - 1 for each in ids}) == len(ids)


FORKING = """
import os
from hoglet.kit.clock import new_id_text, random_id_text
new_id_text(), random_id_text()  # the rest of what was read with them must not be used by both
child = os.fork()
if child:
    os.waitpid(child, 0)
texts = [new_id_text()[14:] for _ in range(50)] + [random_id_text() for _ in range(50)]
print("\\n".join(texts), flush=True)
"""


def test_a_forked_process_has_ids_of_its_own():
    run = subprocess.run([sys.executable, "-c", FORKING], check=True, capture_output=True)
    assert len(set(run.stdout.split())) == 200
