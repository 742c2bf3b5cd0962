"""Imported files produce the same spooled batches as capture."""

import gzip
import json
from datetime import UTC, datetime, timedelta

import pytest

from hoglet.events import parse as incoming
from hoglet.events.files import CsvColumns, UnreadableFile, read_events
from hoglet.events.importer import Importer
from hoglet.events.spool import SPOOL_QUEUE, read_spooled
from hoglet.kit.clock import FixedClock
from hoglet.queue.sql import SqlQueue

COLUMNS = CsvColumns(event="row", distinct_id="who", timestamp="at")


def events_of(path, kind="auto"):
    return [event for _, event in read_events(path, kind, COLUMNS)]


def test_ndjson_json_and_gzip_give_the_same_events(tmp_path):
    events = [{"event": "a", "distinct_id": str(n)} for n in range(3)]
    text = "\n".join(json.dumps(event) for event in events)
    (tmp_path / "e.ndjson").write_text(text + "\n\n")
    (tmp_path / "e.json").write_text(json.dumps(events))
    (tmp_path / "e.jsonl.gz").write_bytes(gzip.compress(text.encode()))

    for name in ("e.ndjson", "e.json", "e.jsonl.gz"):
        assert events_of(tmp_path / name) == events


def test_csv_columns_become_properties_with_their_types(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("who,at,count,price,ok,note\nu1,2026-01-05T10:00:00Z,3,1.5,true,\n")

    assert events_of(path) == [
        {
            "event": "row",
            "distinct_id": "u1",
            "timestamp": "2026-01-05T10:00:00Z",
            "properties": {"count": 3, "price": 1.5, "ok": True, "note": None},
        }
    ]


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "e.ndjson"
    path.write_text('{"event": "a"}\n{oops\n')

    with pytest.raises(UnreadableFile, match=r"e\.ndjson:2"):
        events_of(path)


def test_an_unknown_kind_asks_for_the_format(tmp_path):
    with pytest.raises(UnreadableFile, match="--format"):
        events_of(tmp_path / "e.parquet")


async def run_import(database, events):
    clock = FixedClock(datetime(2026, 1, 5, tzinfo=UTC))
    queue = SqlQueue(database, clock)
    importer = Importer(database=database, queue=queue, clock=clock, project_id=1)
    result = await importer.run(enumerate(events), lambda _position, _accepted: None)
    jobs = await queue.lease(SPOOL_QUEUE, limit=100, duration=timedelta(minutes=1))
    async with database.write() as session:
        await queue.finish(session, jobs)
    return result, [json.loads(read_spooled(job.payload).body) for job in jobs]


async def test_bad_events_are_refused_with_a_reason_and_the_others_kept(sqlite_database):
    result, bodies = await run_import(
        sqlite_database, [{"event": "a", "distinct_id": "1"}, {"distinct_id": "2"}, 7]
    )

    assert (result.accepted, result.refused) == (1, 2)
    assert result.reasons[0].startswith("event 2:")
    assert [raw["event"] for body in bodies for raw in body["batch"]] == ["a"]
    assert all(incoming.refusal_of(raw) is None for body in bodies for raw in body["batch"])


async def test_importing_again_makes_the_same_uuids(sqlite_database):
    events = [{"event": "a", "distinct_id": "1"}] * 2
    _, first = await run_import(sqlite_database, events)
    _, second = await run_import(sqlite_database, events)

    uuids = [raw["uuid"] for raw in first[0]["batch"]]
    assert uuids == [raw["uuid"] for raw in second[0]["batch"]]
    assert len(set(uuids)) == 2
