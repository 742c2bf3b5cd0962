"""``hoglet query``: run HogQL on a server and print the rows."""

import csv
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from hoglet.cli.output import AsJson, cell, print_json, print_table
from hoglet.cli.refusals import BadUsage
from hoglet.cli.server.connection import connect
from hoglet.cli.server.responses import QueryResponse


class RowFormat(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    NDJSON = "ndjson"
    PARQUET = "parquet"


def query(
    text: Annotated[str, typer.Argument(help="HogQL, or - to read it from standard input.")],
    shape: Annotated[RowFormat, typer.Option("--format", help="Output format.")] = RowFormat.TABLE,
    as_json: AsJson = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to a file instead of standard output."),
    ] = None,
) -> None:
    """Run a query and print its rows."""
    shape = RowFormat.JSON if as_json else shape
    is_binary = shape is RowFormat.PARQUET
    if is_binary and output is None and sys.stdout.isatty():
        raise BadUsage("Parquet cannot be printed to a terminal: use --output FILE, or a pipe.")
    source = sys.stdin.read() if text == "-" else text
    if not source.strip():
        raise BadUsage('The query is empty. Example: hoglet query "select count() from events"')
    body = {"query": {"kind": "HogQLQuery", "query": source}}
    answer: QueryResponse = connect().call("POST", "/query/", body)
    try:
        _print(answer, shape, output)
    except OSError as error:
        if output is None:  # of standard output, which is nobody's wrong use
            raise
        raise BadUsage(f"{output} cannot be written: {error.strerror}.") from None
    if answer.get("hasMore"):
        text = "There are more rows; add a LIMIT to the query to see them."
        Console(stderr=True).print(text)


def _print(answer: QueryResponse, shape: RowFormat, output: Path | None) -> None:
    columns = [str(column) for column in answer["columns"]]
    rows = answer["results"]
    if shape is RowFormat.PARQUET:
        _write_parquet(columns, rows, output)
        return
    if output is not None:
        with output.open("w", encoding="utf-8", newline="") as file:
            _write(answer, columns, rows, shape, file)
    elif shape is RowFormat.TABLE:
        print_table(columns, [[cell(value, 1000) for value in row] for row in rows])
    elif shape is RowFormat.JSON:
        print_json(answer)
    else:
        _write(answer, columns, rows, shape, sys.stdout)


def _write(
    answer: QueryResponse,
    columns: list[str],
    rows: list[list[Any]],
    shape: RowFormat,
    file: Any,
) -> None:
    if shape is RowFormat.NDJSON:
        for row in rows:
            file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")
    elif shape is RowFormat.JSON:
        file.write(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")
    else:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([cell(value, sys.maxsize) for value in row] for row in rows)


def _write_parquet(columns: list[str], rows: list[list[Any]], output: Path | None) -> None:
    """Types are those of the JSON values; a column of mixed or nested values is JSON text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = [_array([row[number] for row in rows]) for number in range(len(columns))]
    table = pa.Table.from_arrays(arrays, names=columns)
    pq.write_table(table, output if output is not None else sys.stdout.buffer)


def _array(values: list[Any]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or (len(kinds) == 1 and not kinds & {list, dict}):
        plain = [
            float(value) if float in kinds and value is not None else value for value in values
        ]
        return pa.array(plain)
    texts = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    return pa.array(texts, type=pa.string())
