"""Rows of a query or an endpoint, as a table or in a format for programs."""

import csv
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from hoglet.cli.error_handling import BadUsage
from hoglet.cli.output import cell, print_json, print_table
from hoglet.cli.server.responses import QueryResponse


class RowFormat(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    NDJSON = "ndjson"
    PARQUET = "parquet"


FormatOption = Annotated[
    RowFormat | None,
    typer.Option("--format", help="Output format. [default: table, or by the file's extension]"),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write to a file instead of standard output."),
]


def choose_format(shape: RowFormat | None, output: Path | None, *, as_json: bool) -> RowFormat:
    """The requested format; checked before anything is sent.

    Raises:
        BadUsage: they contradict each other, or the output cannot show the format.
    """
    if as_json and shape not in (None, RowFormat.JSON):
        raise BadUsage(f"--json and --format {shape} contradict each other: use only one of them.")
    if as_json:
        return RowFormat.JSON
    if output is not None:
        return _format_of_file(shape, output)
    if shape is RowFormat.PARQUET and sys.stdout.isatty():
        raise BadUsage("Parquet cannot be printed to a terminal: use --output FILE, or a pipe.")
    return shape or RowFormat.TABLE


def _format_of_file(shape: RowFormat | None, output: Path) -> RowFormat:
    ending = output.suffix.removeprefix(".").lower()
    chosen = shape or (ending if ending in {*RowFormat} else RowFormat.CSV)
    if chosen == RowFormat.TABLE:
        raise BadUsage("--format table is for a terminal: use another format with --output.")
    return RowFormat(chosen)


def print_rows(answer: QueryResponse, shape: RowFormat, output: Path | None, more: str) -> None:
    """Print the rows, or write them to a file; ``more`` says how to get the remaining ones.

    Results without columns, such as those of insights, are printed as JSON.

    Raises:
        BadUsage: the file cannot be written, or the results do not fit the format.
    """
    if "columns" not in answer:
        shape = _format_of_objects(shape)
    try:
        _print(answer, shape, output)
    except OSError as error:
        if output is None:  # standard output failed, which is not a usage error
            raise
        raise BadUsage(f"{output} cannot be written: {error.strerror}.") from None
    if answer.get("hasMore"):
        Console(stderr=True).print(f"There are more rows; {more}.")


def _format_of_objects(shape: RowFormat) -> RowFormat:
    if shape not in (RowFormat.TABLE, RowFormat.JSON):
        raise BadUsage(f"These results have no columns for {shape}: use --format json.")
    return RowFormat.JSON


def _print(answer: QueryResponse, shape: RowFormat, output: Path | None) -> None:
    columns = [str(column) for column in answer.get("columns", [])]
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
