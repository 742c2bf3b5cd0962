"""``hoglet cohorts``: the cohorts of a project."""

from typing import Annotated
from urllib.parse import quote

import typer

from hoglet.cli.output import AsJson, cell, print_json, print_table
from hoglet.cli.server.connection import ServerTyper, connect

cohorts_app = ServerTyper(help="Cohorts of a project.", no_args_is_help=True)

_COLUMNS = ("id", "name", "count", "is_static", "is_calculating", "last_calculation")


@cohorts_app.command("list")
def list_cohorts(as_json: AsJson = False) -> None:
    """List the cohorts of a project."""
    cohorts = list(connect().every("/cohorts/"))
    if as_json:
        print_json(cohorts)
        return
    print_table(_COLUMNS, [[cell(each.get(column)) for column in _COLUMNS] for each in cohorts])


@cohorts_app.command("show")
def show(
    cohort: Annotated[str, typer.Argument(help="Id of the cohort.")], as_json: AsJson = False
) -> None:
    """Show a cohort and its criteria."""
    record = connect().call("GET", f"/cohorts/{quote(cohort, safe='')}/")
    if as_json:
        print_json(record)
        return
    print_table(("field", "value"), [(name, cell(value, 1000)) for name, value in record.items()])
