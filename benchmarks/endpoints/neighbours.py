"""ROAPI and Datasette serving an equivalent saved query on the same events.

Each is installed into its own environment under ``benchmarks/results`` and reads the events in the
form that suits it best: ROAPI a Parquet file with the properties as columns, Datasette such a
SQLite table. hoglet reads them from the JSON column.
"""

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.endpoints.http_calls import Client, wait_for
from benchmarks.endpoints.timing import Times, loop
from rich.progress import track

from support.server import free_port

ENVIRONMENT = Path(__file__).parents[1] / "results" / "neighbours"
PACKAGES = ("roapi==0.12.7", "datasette")
EXPORT = """
SELECT toString(event) AS event, toString(distinct_id) AS distinct_id, timestamp,
       JSONExtractString(properties, 'plan') AS plan,
       JSONExtractString(properties, '$browser') AS browser,
       toFloat64(JSONExtractInt(properties, 'price')) AS price
FROM events WHERE project_id = 1
"""
QUERIES = {
    "count": "SELECT event, count(*) AS n FROM events GROUP BY event ORDER BY event",
    "property": (
        "SELECT plan, sum(price) AS price FROM events WHERE browser = 'Chrome' "
        "GROUP BY plan ORDER BY plan"
    ),
}


def install() -> None:
    """Install the two programs, unless they are installed already."""
    if (ENVIRONMENT / "bin" / "datasette").exists():
        return
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    pip = str(ENVIRONMENT / "bin" / "pip")
    subprocess.run([pip, "install", "-qq", *PACKAGES], check=True)


def export(folder: str, target: str) -> None:
    """Write the events of the warehouse as one Parquet file."""
    import clickhouse_connect

    client = clickhouse_connect.get_client(dsn=f"chdb://{folder}/warehouse")
    with Path(target).open("wb") as file:
        file.writelines(client.raw_stream(EXPORT, fmt="Parquet"))


def measure(parquet: Path, seconds: float) -> dict[tuple[str, str], Times]:
    """Times by program and query, one client; the rows are compared first."""
    times, answers = {}, {}
    for program, serve, ask in (
        ("roapi", roapi, ask_roapi),
        ("datasette", datasette, ask_datasette),
    ):
        with serve(parquet) as port:
            for name in QUERIES:
                answers[program, name] = ask(port, name)()
                times[program, name] = loop(
                    lambda ask=ask, port=port, name=name: ask(port, name), 1, seconds
                )
    for name in QUERIES:
        if json.loads(answers["roapi", name]) != json.loads(answers["datasette", name]):
            raise RuntimeError(f"{name}: the two return different rows")
    return times


@contextlib.contextmanager
def roapi(parquet: Path) -> Iterator[int]:
    """ROAPI on the file, with its table in memory, which is its default."""
    port = free_port()
    command = ["roapi", "--table", f"events={parquet}", "--addr-http", f"127.0.0.1:{port}"]
    with _running(command, parquet.parent):
        wait_for(port, "/api/schema")
        yield port


@contextlib.contextmanager
def datasette(parquet: Path) -> Iterator[int]:
    """Datasette on the same events in SQLite, with the queries saved in its metadata."""
    database = parquet.with_name("events.db")
    if not database.exists():
        to_sqlite(parquet, database)
    saved = {name: {"sql": sql} for name, sql in QUERIES.items()}
    metadata = parquet.with_name("metadata.json")
    metadata.write_text(json.dumps({"databases": {"events": {"queries": saved}}}))
    port = free_port()
    command = ["datasette", "serve", str(database), "--metadata", str(metadata)]
    command += ["--port", str(port), "--setting", "sql_time_limit_ms", "600000"]
    with _running(command, parquet.parent):
        wait_for(port, "/-/versions.json")
        yield port


def to_sqlite(parquet: Path, database: Path) -> None:
    """A plain table, which Datasette serves as it is."""
    import pyarrow.parquet

    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute(
            "CREATE TABLE events (event TEXT, distinct_id TEXT, timestamp TEXT,"
            " plan TEXT, browser TEXT, price REAL)"
        )
        file = pyarrow.parquet.ParquetFile(parquet)
        for group in track(range(file.num_row_groups), "SQLite"):
            rows = file.read_row_group(group).to_pydict()
            rows["timestamp"] = [moment.isoformat() for moment in rows["timestamp"]]
            connection.executemany(
                "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", zip(*rows.values(), strict=True)
            )
        connection.commit()


def ask_roapi(port: int, name: str) -> Callable[[], bytes]:
    """ROAPI has no saved queries: the SQL is sent each time."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def call() -> bytes:
        connection.request("POST", "/api/sql", QUERIES[name])
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise RuntimeError(f"ROAPI: {response.status} {content[:300]!r}")
        return content

    return call


def ask_datasette(port: int, name: str) -> Callable[[], bytes]:
    client = Client(port)
    return lambda: client.get(f"/events/{name}.json?_shape=array")


@contextlib.contextmanager
def _running(command: list[str], folder: Path) -> Iterator[None]:
    program = [str(ENVIRONMENT / "bin" / command[0]), *command[1:]]
    with (folder / f"{command[0]}.log").open("wb") as log:
        process = subprocess.Popen(program, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait()
