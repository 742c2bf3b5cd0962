"""``hoglet endpoints``: saved queries as files next to the code that uses them."""

from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.text import Text

from hoglet.cli.confirmation import confirm
from hoglet.cli.endpoints.versions import (
    COLOURS,
    Name,
    alias_app,
    compare,
    openapi,
    usage,
    version_of,
)
from hoglet.cli.error_handling import BadUsage, exit_with_two
from hoglet.cli.output import AsJson, print_json, print_table, visible, wide_console
from hoglet.cli.row_output import FormatOption, OutputOption, choose_format, print_rows
from hoglet.cli.server.api_errors import ApiRefused
from hoglet.cli.server.connection import ServerTyper, connect
from hoglet.cli.server.responses import QueryResponse
from hoglet.kit.json import JsonObject, same_json
from hoglet.project_files.documents import EndpointDocument

Prune = Annotated[
    bool, typer.Option("--prune", help="Also delete what the other side does not have.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without confirmation; for scripts.")]

type EndpointFile = tuple[Path, EndpointDocument]
"""A file and the endpoint that it describes."""


def names_without_file(
    paths: list[Path] | None, documents: list[EndpointFile], there: Iterable[str]
) -> list[str]:
    """The endpoints of the server without a file.

    Raises:
        BadFile: single files were specified, or there are none.
    """
    from hoglet.project_files.formats.yaml_files import BadFile

    single = [path for path in paths or [] if not path.is_dir()]
    if single:
        raise BadFile(
            f"--prune requires folders, which contain every endpoint; {single[0]} is a file."
        )
    if not documents:
        raise BadFile("There are no files of endpoints: --prune would delete every endpoint.")
    named = {document["name"] for _, document in documents}
    return sorted(set(there) - named)


def files_without_endpoint(
    documents: list[EndpointFile], there: Iterable[str]
) -> list[tuple[Path, str]]:
    """The files of endpoints that the server does not have, with their names."""
    known = set(there)
    return [
        (path, document["name"]) for path, document in documents if document["name"] not in known
    ]


endpoints_app = ServerTyper(help="Endpoints as files, and their runs.", no_args_is_help=True)

_STATES = {True: "yes", False: "no"}

Paths = Annotated[
    list[Path] | None,
    typer.Argument(help="Files, or folders of .yaml files. [default: endpoints]"),
]

endpoints_app.add_typer(alias_app, name="alias")
endpoints_app.command("compare")(compare)
endpoints_app.command("openapi")(openapi)
endpoints_app.command("usage")(usage)


@endpoints_app.command("list")
def list_endpoints(as_json: AsJson = False) -> None:
    """List the endpoints of the server."""
    endpoints = list(connect().every("/endpoints/"))
    if as_json:
        print_json(endpoints)
        return
    columns = ("name", "version", "active", "materialized", "last run", "description")
    rows = [
        (
            endpoint["name"],
            str(endpoint["current_version"]),
            _STATES[endpoint["is_active"]],
            _STATES[endpoint["is_materialized"]],
            (endpoint["last_executed_at"] or "never")[:16],
            endpoint["description"].partition("\n")[0],
        )
        for endpoint in endpoints
    ]
    print_table(columns, rows)


@endpoints_app.command("pull")
def pull(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names; all endpoints by default.")
    ] = None,
    to: Annotated[Path, typer.Option("--to", help="Folder of the files.")] = Path("endpoints"),
    prune: Prune = False,
    yes: Yes = False,
) -> None:
    """Write the server's endpoints to files; --prune deletes files of other endpoints."""
    from hoglet.project_files.endpoint_sync import Endpoints
    from hoglet.project_files.folder import endpoints_folder, file_for
    from hoglet.project_files.formats.endpoint_file import BadFile, write_text

    if prune and names:
        raise typer.BadParameter("--prune requires pulling all endpoints; do not specify names.")
    there = Endpoints(connect())
    to = endpoints_folder(to)
    _write(to)
    here = _documents([to])
    known = {document["name"]: document for _, document in here}
    paths = {document["name"]: path for path, document in here}
    gone = files_without_endpoint(here, there.records) if prune else []
    confirm([f"file {path}" for path, _ in gone], yes=yes)
    for name in names or sorted(there.records):
        document = there.document(name)
        if document is None:
            raise BadFile(f"There is no endpoint {name}. See hoglet endpoints list.")
        if same_json(known.get(name), document):  # however it is written
            continue
        path = paths.setdefault(name, file_for(to, name, paths))
        _write(path, write_text(document).encode())
        print(f"wrote {path}")
    for path, _ in gone:
        path.unlink()
        print(f"deleted {path}")


def _write(path: Path, content: bytes | None = None) -> None:
    """Write a file, or make a folder."""
    try:
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.write_bytes(content)
    except OSError as error:
        raise BadUsage(f"{path} cannot be written: {error.strerror}.") from None


@endpoints_app.command("diff")
def diff(
    paths: Paths = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Also show what push --prune would delete.")
    ] = False,
) -> None:
    """Show what push would change; exits with 1 if anything differs, 2 for errors."""
    from hoglet.project_files.endpoint_sync import Endpoints

    with exit_with_two():
        documents = _documents(paths)
        there = Endpoints(connect())
        gone = names_without_file(paths, documents, there.records) if prune else []
        lines = [line for _, document in documents for line in there.difference(document)]
        lines += [line for name in gone for line in there.removal(name)]
    console = wide_console()
    for line in lines:
        console.print(Text(visible(line), style=COLOURS.get(line[:1], "")), soft_wrap=True)
    raise typer.Exit(1 if lines else 0)


@endpoints_app.command("push")
def push(
    paths: Paths = None,
    prune: Prune = False,
    yes: Yes = False,
) -> None:
    """Create and update endpoints and their variables from files.

    Nothing is deleted without --prune, and never a variable.
    """
    from hoglet.project_files.endpoint_sync import Endpoints

    documents = _documents(paths)
    there = Endpoints(connect())
    gone = names_without_file(paths, documents, there.records) if prune else []
    confirm([f"endpoint {name}" for name in gone], yes=yes)
    done = [sentence for file in documents for sentence in _push(there, *file)]
    for name in gone:
        there.delete(name)
        print(f"deleted endpoint {name}", flush=True)
    if not done and not gone:
        print("nothing to do")


@endpoints_app.command("run")
def run(
    name: Name,
    variable: Annotated[
        list[str] | None, typer.Option("--variable", "-v", help="name=value; repeatable.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="Version number or alias; defaults to the newest.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Maximum number of rows.")] = None,
    offset: Annotated[int | None, typer.Option(help="Rows to skip; requires --limit.")] = None,
    refresh: Annotated[
        str, typer.Option(help="Refresh mode of the API, such as blocking or force.")
    ] = "blocking",
    shape: FormatOption = None,
    as_json: AsJson = False,
    output: OutputOption = None,
) -> None:
    """Run an endpoint and print its rows."""
    chosen = choose_format(shape, output, as_json=as_json)
    body: JsonObject = {"refresh": refresh, "variables": _variables(variable or [])}
    given = {"version": version and version_of(version), "limit": limit, "offset": offset}
    body |= {field: value for field, value in given.items() if value is not None}
    answer: QueryResponse = connect().call("POST", f"/endpoints/{quote(name)}/run", body)
    print_rows(answer, chosen, output, "use --limit and --offset")


def _push(there: Any, path: Path, document: EndpointDocument) -> list[str]:
    """Each line is printed at once, so that earlier changes are known after an error."""
    from hoglet.project_files.formats.yaml_files import BadFile, place_of

    try:
        sentences: list[str] = there.push(document)
    except ApiRefused as error:
        if error.status != HTTPStatus.BAD_REQUEST:  # concerns the key or the project, not the file
            raise
        position = place_of(path, error.field, error.detail)
        raise BadFile(f"{position}: {error.detail}") from None
    for sentence in sentences:
        print(sentence, flush=True)
    return sentences


def _documents(paths: list[Path] | None) -> list[EndpointFile]:
    """All files are parsed before anything is sent."""
    from hoglet.project_files.folder import read_endpoints

    return read_endpoints(paths or [Path("endpoints")])


def _variables(pairs: list[str]) -> dict[str, str]:
    """Values stay strings: the server parses them by the type of the variable."""
    values: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"{pair} is not of the form name=value.")
        if name in values:
            raise typer.BadParameter(f"the variable {name} is given twice.")
        values[name] = value
    return values
