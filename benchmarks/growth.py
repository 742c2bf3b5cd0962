"""What grows with a project: known uuids, and property keys.

*Known uuids*: processor time of the metadata database per event to look up and record a group of
random uuids, beside days with 100,000 or a million others, and the bytes written to disk.
*Property keys*: processor time of the engine per event, to insert and merge, for projects with 13
and with 1,000 keys, as a ratio.

Not measured: queries of the properties, slow disks.

Run: ``.venv/bin/python -m benchmarks.growth [--uuids 1000000] [--events 12000]``
"""

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import tempfile
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from hoglet.events.known_uuids import KnownUuids
from hoglet.kit.clock import FixedClock
from hoglet.migrations.upgrade import migrate
from hoglet.store.database import Database
from hoglet.warehouse import open_warehouse

GROUP = 4000
ROUNDS = 6
DAYS = 8
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
COLUMNS = ("project_id", "uuid", "event", "properties", "timestamp", "distinct_id")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uuids", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=12_000)
    options = parser.parse_args()
    few, many = (asyncio.run(known_uuids(n)) for n in (options.uuids // 10, options.uuids))
    narrow, wide = (asyncio.run(property_keys(keys, options.events)) for keys in (13, 1000))
    figures = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "known_uuids": {str(options.uuids // 10): few, str(options.uuids): many},
        "property_keys_us": {"13": narrow, "1000": wide},
        "ratio_of_keys": round(wide["insert"] / narrow["insert"], 2),
    }
    print(json.dumps(figures, indent=2))


async def known_uuids(total: int) -> dict[str, float]:
    """The cost of a group beside ``total`` uuids in the window."""
    folder = Path(tempfile.mkdtemp(prefix="hoglet-bench-"))
    url = f"sqlite+aiosqlite:///{folder / 'hoglet.db'}"
    await asyncio.to_thread(migrate, url)
    database = Database(url)
    for day in range(DAYS):
        await remember(database, day, total // DAYS)
    before, written = time.process_time(), written_bytes()
    for _ in range(ROUNDS):
        await remember(database, DAYS - 1, GROUP)
    seconds, written = time.process_time() - before, written_bytes() - written
    await database.close()
    shutil.rmtree(folder)
    events = ROUNDS * GROUP
    return {
        "us": round(seconds / events * 1e6, 1),
        "kilobytes_written": round(written / events / 1000, 2),
    }


async def remember(database: Database, day: int, count: int) -> None:
    known = KnownUuids(FixedClock(NOW + timedelta(days=day)))
    for start in range(0, count, GROUP):
        given = [uuid.uuid4() for _ in range(min(GROUP, count - start))]
        async with database.read() as session:
            assert not await known.find(session, 1, given)
        async with database.write() as session:
            await known.add(session, 1, given)


def written_bytes() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


async def property_keys(keys: int, events: int) -> dict[str, float]:
    """The cost of events that each have 13 of ``keys`` keys."""
    folder = tempfile.mkdtemp(prefix="hoglet-bench-")
    warehouse = await open_warehouse(f"chdb://{folder}/warehouse")
    chosen = random.Random(1)  # the same events each time
    rows = [row(number, chosen.sample(range(keys), 13)) for number in range(events)]
    before = time.process_time()
    for start in range(0, events, GROUP):
        await warehouse.insert("events", COLUMNS, rows[start : start + GROUP])
    inserted = time.process_time()
    await warehouse.command("OPTIMIZE TABLE events FINAL", seconds=120)
    merged = time.process_time()
    await warehouse.close()
    shutil.rmtree(folder)
    return {
        "insert": round((inserted - before) / events * 1e6, 1),
        "merge": round((merged - inserted) / events * 1e6, 1),
    }


def row(number: int, keys: list[int]) -> tuple[object, ...]:
    properties = {f"key_{key}": number % 97 if key % 2 else f"v{number % 50}" for key in keys}
    return (
        1,
        str(uuid.uuid4()),
        "order",
        orjson.dumps(properties).decode(),
        f"2026-11-{number % 9 + 1:02}T10:00:00Z",
        f"user-{number % 500}",
    )


if __name__ == "__main__":
    main()
