"""``hoglet query``: run HogQL on a server and print the rows."""

import sys
from typing import Annotated

import typer

from hoglet.cli.error_handling import BadUsage
from hoglet.cli.output import AsJson
from hoglet.cli.row_output import FormatOption, OutputOption, choose_format, print_rows
from hoglet.cli.server.connection import connect
from hoglet.cli.server.responses import QueryResponse


def query(
    text: Annotated[str, typer.Argument(help="HogQL, or - to read it from standard input.")],
    shape: FormatOption = None,
    as_json: AsJson = False,
    output: OutputOption = None,
) -> None:
    """Run a query and print its rows."""
    chosen = choose_format(shape, output, as_json=as_json)
    source = sys.stdin.read() if text == "-" else text
    if not source.strip():
        raise BadUsage('The query is empty. Example: hoglet query "select count() from events"')
    body = {"query": {"kind": "HogQLQuery", "query": source}}
    answer: QueryResponse = connect().call("POST", "/query/", body)
    print_rows(answer, chosen, output, "add a LIMIT to the query to see them")
