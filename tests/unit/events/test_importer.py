"""Imported files produce the same spooled batches as capture."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from hoglet.events import parse as incoming
from hoglet.events.export_rows import ExportRows
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
    (tmp_path / "e.xlsx").write_bytes(b"PK")
    with pytest.raises(UnreadableFile, match="--format"):
        events_of(tmp_path / "e.xlsx")


ROWS = [
    {
        "uuid": f"0198c2a0-0000-7000-8000-00000000000{number}",
        "event": "paid",
        "distinct_id": "ada",
        "team_id": 7,
        "person_id": "0198c2a0-0000-7000-8000-0000000000aa",
        "timestamp": datetime(2026, 1, 5, 10, number, 0, 250_000, tzinfo=UTC),
        "created_at": datetime(2026, 1, 5, 10, 9, tzinfo=UTC),
        "properties": json.dumps({"plan": "pro", "n": number, "$set": {"seen": number}}),
        "person_properties": json.dumps({"email": "a@example.com", "seen": 0, "city": city}),
        "elements_chain": chain,
    }
    for number, (city, chain) in enumerate([("Ulm", ""), ("Ulm", 'a:text="Go"'), ("Rom", "")])
]


def export_of(folder, kind):
    import brotli
    import pyarrow as pa
    import pyarrow.parquet as pq

    times = [row | {k: row[k].isoformat() for k in ("timestamp", "created_at")} for row in ROWS]
    lines = "\n".join(json.dumps(row) for row in times).encode()
    nested = [row | {k: json.loads(row[k]) for k in ("properties", "person_properties")}
              for row in times]  # fmt: skip
    path = folder / f"export.{kind}"
    match kind:
        case "parquet" | "parquet.zst" | "data":
            pq.write_table(pa.Table.from_pylist(ROWS), path, compression="zstd")
        case "jsonl.br":
            path.write_bytes(brotli.compress(lines))
        case "jsonl":
            path.write_text("\n".join(json.dumps(row) for row in nested))
        case "ndjson":
            path.write_bytes(lines.replace(b"T10:", b" 10:"))
    return path


@pytest.mark.parametrize("kind", ["parquet", "parquet.zst", "data", "jsonl", "jsonl.br", "ndjson"])
def test_rows_of_exports_are_events(tmp_path, kind):
    exports = ExportRows()
    read = [event for _, event in read_events(export_of(tmp_path, kind), "auto", COLUMNS, exports)]

    assert [incoming.refusal_of(raw) for raw in read] == [None] * 3
    assert [incoming.read_time(raw.pop("timestamp")) for raw in read] == [
        row["timestamp"] for row in ROWS
    ]
    first = {"email": "a@example.com", "city": "Ulm", "seen": 0}
    assert read == [
        {
            "uuid": row["uuid"],
            "event": "paid",
            "distinct_id": "ada",
            "properties": {"plan": "pro", "n": number, **more},
        }
        for number, (row, more) in enumerate(
            zip(
                ROWS,
                [
                    {"$set": first},
                    {"$elements_chain": 'a:text="Go"', "$set": {"seen": 1}},
                    {"$set": first | {"city": "Rom", "seen": 2}},
                ],
                strict=True,
            )
        )
    ]
    assert exports.left_out == {"team_id", "person_id", "created_at"}


def test_other_tables_in_parquet_are_read_like_csv(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = {"who": "u1", "at": datetime(2026, 1, 5, 10), "count": 3, "tags": ["a"], "note": None}  # noqa: DTZ001
    pq.write_table(pa.Table.from_pylist([row | {"price": Decimal("1.50")}]), tmp_path / "t.parquet")

    assert events_of(tmp_path / "t.parquet") == [
        {
            "event": "row",
            "distinct_id": "u1",
            "timestamp": "2026-01-05T10:00:00+00:00",
            "properties": {"count": 3, "tags": ["a"], "note": None, "price": 1.5},
        }
    ]


def test_events_of_clients_are_no_rows_of_exports(tmp_path):
    event = {"event": "a", "distinct_id": "1", "properties": {"team_id": 3}, "$set": {"x": 1}}
    (tmp_path / "e.ndjson").write_text(json.dumps(event))
    assert events_of(tmp_path / "e.ndjson") == [event]


@pytest.mark.parametrize("name", ["cut.parquet", "cut.jsonl.br", "cut.jsonl.zst", "text.jsonl.br"])
def test_damaged_exports_are_refused(tmp_path, name):
    kind = name.split(".", 1)[1]
    whole = export_of(tmp_path, kind.replace("zst", "br")).read_bytes()
    (tmp_path / name).write_bytes(b'{"event": "a"}' if name.startswith("text") else whole[:-30])

    with pytest.raises(UnreadableFile, match=name):
        events_of(tmp_path / name)


def test_properties_that_are_no_object_are_refused_not_dropped(tmp_path):
    rows = [{"event": "a", "distinct_id": "1", "properties": text} for text in ("{oops", "[1]")]
    (tmp_path / "e.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert [incoming.refusal_of(raw) is None for raw in events_of(tmp_path / "e.jsonl")] == [
        False,
        False,
    ]


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
        sqlite_database,
        [
            {"event": "a", "distinct_id": "1"},
            {"distinct_id": "2"},
            7,
            {"event": "a", "distinct_id": "1", "timestamp": "last Tuesday"},
        ],
    )

    assert (result.accepted, result.refused) == (1, 3)
    assert result.reasons[0].startswith("event 2:")
    assert result.reasons[2] == "event 4: The timestamp 'last Tuesday' is not a time."
    assert [raw["event"] for body in bodies for raw in body["batch"]] == ["a"]
    assert all(incoming.refusal_of(raw) is None for body in bodies for raw in body["batch"])


async def test_importing_again_makes_the_same_uuids(sqlite_database):
    events = [{"event": "a", "distinct_id": "1"}] * 2
    _, first = await run_import(sqlite_database, events)
    _, second = await run_import(sqlite_database, events)

    uuids = [raw["uuid"] for raw in first[0]["batch"]]
    assert uuids == [raw["uuid"] for raw in second[0]["batch"]]
    assert len(set(uuids)) == 2


async def test_batches_are_bounded_by_bytes(sqlite_database):
    """A thousand large events in one batch exceeded the worker's memory, and SQLite's rows."""
    large = [
        {"event": "a", "distinct_id": str(n), "properties": {"t": "x" * 300_000}} for n in range(30)
    ]
    result, bodies = await run_import(sqlite_database, large)

    assert (result.accepted, result.refused) == (30, 0)
    assert max(len(json.dumps(body)) for body in bodies) < 3_000_000
    assert sum(len(body["batch"]) for body in bodies) == 30


@pytest.mark.parametrize("depth", [125, 300, 1100])
async def test_an_event_that_is_nested_too_deeply_is_refused_and_the_others_kept(
    sqlite_database, tmp_path, depth
):
    path = tmp_path / "e.ndjson"
    bad = '{"event": "half \\ud83d", "distinct_id": "u", "properties": {"x": '
    bad += "[" * depth + "]" * depth + "}}"
    path.write_text(bad + '\n{"event": "good", "distinct_id": "u"}\n')

    result, bodies = await run_import(sqlite_database, events_of(path))

    assert (result.accepted, result.refused) == (1, 1)
    assert result.reasons == ["event 1: An event is nested deeper than 128 levels."]
    assert [raw["event"] for body in bodies for raw in body["batch"]] == ["good"]


@pytest.mark.parametrize("kind", ["ndjson", "json"])
async def test_numbers_that_no_double_holds_are_imported_as_text(sqlite_database, tmp_path, kind):
    """A single such number once stopped the import of its file."""
    path = tmp_path / f"e.{kind}"
    numbers = ["1e400", "9" * 400, "-" + "9" * 5000, "NaN", "18446744073709551616"]
    lines = [f'{{"event": "e", "distinct_id": "u", "properties": {{"x": {x}}}}}' for x in numbers]
    path.write_text("\n".join(lines) if kind == "ndjson" else f"[{','.join(lines)}]")

    result, bodies = await run_import(sqlite_database, events_of(path))

    assert (result.accepted, result.refused) == (5, 0)
    assert [raw["properties"]["x"] for body in bodies for raw in body["batch"]] == [
        "1e400", "9" * 400, "-" + "9" * 5000, None, 18446744073709551616.0,
    ]  # fmt: skip


async def test_cells_are_numbers_only_where_json_has_them(sqlite_database, tmp_path):
    """Postcodes once lost their zeros, and people called Nan or Inf their names."""
    cells = {
        "12": 12, "-1.5": -1.5, " 7": 7, "1e5": 100000.0, "007": "007", "1_000": "1_000",
        "nan": "nan", "Infinity": "Infinity", "12e4567": "12e4567", "9" * 400: "9" * 400,
        "18446744073709551616": 18446744073709551616.0, "١٢": "١٢", "+5": "+5", "-": "-",
    }  # fmt: skip
    path = tmp_path / "e.csv"
    path.write_text("who,x\n" + "".join(f"u,{cell}\n" for cell in cells))

    result, bodies = await run_import(sqlite_database, events_of(path))

    assert (result.accepted, result.refused) == (len(cells), 0)
    values = [raw["properties"]["x"] for body in bodies for raw in body["batch"]]
    assert values == list(cells.values())


async def test_decimals_of_parquet_are_imported_as_the_nearest_number(sqlite_database, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = [Decimal("9" * 38), Decimal(7), Decimal(-(2**63))]
    table = pa.table({"event": ["e"] * 3, "who": ["u"] * 3, "x": pa.array(values)})
    pq.write_table(table, tmp_path / "e.parquet")

    result, bodies = await run_import(sqlite_database, events_of(tmp_path / "e.parquet"))

    assert (result.accepted, result.refused) == (3, 0)
    imported = [raw["properties"]["x"] for body in bodies for raw in body["batch"]]
    assert imported == [1e38, 7, -(2**63)]
