"""``hoglet key`` and ``hoglet project``: the admin commands; they work while the server runs."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from hoglet.kit.clock import SystemClock
from hoglet.kit.errors import HogletError

if TYPE_CHECKING:  # SQLAlchemy is not needed to print help, nor by the other commands
    from sqlalchemy.ext.asyncio import AsyncSession

key_app = typer.Typer(help="Keys of people and programs.", no_args_is_help=True)
project_app = typer.Typer(help="Projects.", no_args_is_help=True)

_PIPE_WIDTH = 400  # nothing is cut for a script that reads the table

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder for all data. [default: hoglet-data]")
]


class NoData(HogletError):
    """There is no database where one is expected."""

    code = "no_data"
    blame = "operator"


@key_app.command("create")
def create_key(
    scopes: Annotated[
        str, typer.Option(help="Comma list such as hog_function:read,endpoint:write; * for all.")
    ] = "",
    project: Annotated[int | None, typer.Option(help="Restrict the key to this project.")] = None,
    label: Annotated[str, typer.Option(help="What lists call it.")] = "Made on the command line",
    secret: Annotated[
        bool, typer.Option("--secret", help="A project secret key: runs endpoints, nothing else.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Make a key and print it; it is shown this once."""
    from hoglet.access import issue

    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]

    async def work(session: "AsyncSession") -> str:
        clock = SystemClock()
        if secret:
            made = await issue.issue_secret_key(
                session,
                clock,
                scopes=wanted or ["endpoint:read"],
                label=label,
                project_id=project or 1,
            )
        else:
            made = await issue.issue_personal_key(
                session, clock, scopes=wanted, label=label, project_id=project
            )
        return made.value

    print(_in_database(data_dir, work))


@key_app.command("list")
def list_keys(data_dir: DataDir = None) -> None:
    """List all keys, without their values."""
    from hoglet.access import key_repository

    async def work(session: "AsyncSession") -> list[tuple[str, ...]]:
        personal = await key_repository.personal_keys(session)
        secret = await key_repository.secret_keys(session)
        rows = [(row, "personal", row.scoped_teams) for row in personal]
        rows += [(row, "secret", [row.project_id]) for row in secret]
        return [_key_cells(row, kind, projects) for row, kind, projects in rows]

    _print_table(
        ("id", "kind", "label", "key", "scopes", "projects", "last used"),
        _in_database(data_dir, work),
    )


@key_app.command("revoke")
def revoke_key(
    key: Annotated[str, typer.Argument(help="The key's id (see list), or the key itself.")],
    data_dir: DataDir = None,
) -> None:
    """Make a key invalid; a running server stops taking it within seconds."""
    from hoglet.access import issue

    async def work(session: "AsyncSession") -> None:
        await issue.revoke_key(session, key)

    _in_database(data_dir, work)
    print("Revoked.")


@project_app.command("create")
def create_project(
    name: Annotated[str, typer.Argument(help="The project's name.")],
    timezone: Annotated[str, typer.Option(help="Time zone of its reports.")] = "UTC",
    data_dir: DataDir = None,
) -> None:
    """Make a project; prints its id and its capture token."""
    from hoglet.access import issue

    async def work(session: "AsyncSession") -> tuple[int, str]:
        made = await issue.create_project(session, SystemClock(), name=name, timezone=timezone)
        return made.id, made.api_token

    project_id, token = _in_database(data_dir, work)
    print(f"{project_id} {token}")


@project_app.command("list")
def list_projects(data_dir: DataDir = None) -> None:
    """List all projects with their capture tokens."""
    from hoglet.access import repository

    async def work(session: "AsyncSession") -> list[tuple[str, ...]]:
        projects = await repository.projects_of(session)
        return [(str(each.id), each.name, each.api_token, each.timezone) for each in projects]

    _print_table(("id", "name", "token", "timezone"), _in_database(data_dir, work))


def _in_database[T](data_dir: Path | None, work: "Callable[[AsyncSession], Awaitable[T]]") -> T:
    """Do ``work`` in one transaction on the data folder's (or the configured) database."""
    from hoglet.settings import Settings

    given: dict[str, Any] = {} if data_dir is None else {"data_dir": data_dir}
    settings = Settings(**given)
    file = settings.data_dir / "hoglet.db"
    if settings.database_url is None and not file.exists():
        raise NoData(f"There is no database at {file}. Start the server once, or give --data-dir.")
    return asyncio.run(_transaction(settings.resolved_database_url(), work))


async def _transaction[T](url: str, work: "Callable[[AsyncSession], Awaitable[T]]") -> T:
    from sqlalchemy.exc import OperationalError, ProgrammingError

    from hoglet.store.database import Database

    database = Database(url)
    try:
        async with database.write() as session:
            return await work(session)
    except (OperationalError, ProgrammingError) as error:
        raise NoData(f"The database cannot be used: {error.orig}") from error
    finally:
        await database.close()


def _key_cells(row: Any, kind: str, projects: list[int]) -> tuple[str, ...]:
    used = "never" if row.last_used_at is None else f"{row.last_used_at:%Y-%m-%d %H:%M}"
    reach = ",".join(map(str, projects)) or "all"
    return (row.id, kind, row.label, row.mask_value, ",".join(row.scopes), reach, used)


def _print_table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    console.print(table)
