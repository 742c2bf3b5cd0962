"""``hoglet admin keys`` and ``hoglet admin projects``; they work while the server runs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hoglet.cli.admin.data_folder import DataDir, in_transaction
from hoglet.cli.error_handling import BadUsage
from hoglet.cli.output import AsJson, print_json, print_table
from hoglet.kit.clock import SystemClock

if TYPE_CHECKING:  # SQLAlchemy is not needed to print help, nor by the other commands
    from sqlalchemy.ext.asyncio import AsyncSession

keys_app = typer.Typer(help="API keys of users and programs.", no_args_is_help=True)
projects_app = typer.Typer(help="Projects.", no_args_is_help=True)


@keys_app.command("create")
def create_key(
    scopes: Annotated[
        str,
        typer.Option(
            help="Comma-separated scopes such as hog_function:read,endpoint:write; * for all."
        ),
    ] = "",
    project: Annotated[int | None, typer.Option(help="Restrict the key to this project.")] = None,
    label: Annotated[
        str, typer.Option(help="Name of the key in lists.")
    ] = "Created on the command line",
    secret: Annotated[
        bool,
        typer.Option(
            "--secret",
            help="Create a project secret key, for endpoint:read (the default) and query:read.",
        ),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Create a key and print it; it is shown only once."""
    requested = [scope.strip() for scope in scopes.split(",") if scope.strip()]

    async def work(session: "AsyncSession") -> str:
        if secret:
            return await _issue_secret_key(session, requested, label, project or 1)
        return await _issue_personal_key(session, requested, label, project)

    print(in_transaction(data_dir, work))


async def _issue_personal_key(
    session: "AsyncSession", scopes: list[str], label: str, project: int | None
) -> str:
    from hoglet.access.provisioning import issue_personal_key

    key = await issue_personal_key(
        session, SystemClock(), scopes=scopes, label=label, project_id=project
    )
    return key.value


async def _issue_secret_key(
    session: "AsyncSession", scopes: list[str], label: str, project: int
) -> str:
    from hoglet.access.provisioning import issue_secret_key

    scopes = scopes or ["endpoint:read"]
    key = await issue_secret_key(
        session, SystemClock(), scopes=scopes, label=label, project_id=project
    )
    return key.value


@keys_app.command("list")
def list_keys(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List all keys, without their values."""
    from hoglet.access import repository

    async def work(session: "AsyncSession") -> list[tuple[str, ...]]:
        personal = await repository.personal_keys(session)
        secret = await repository.secret_keys(session)
        rows = [(row, "personal", row.scoped_teams) for row in personal]
        rows += [(row, "secret", [row.project_id]) for row in secret]
        return [_key_cells(row, kind, projects) for row, kind, projects in rows]

    columns = ("id", "kind", "label", "key", "scopes", "projects", "last used")
    _print_rows(columns, in_transaction(data_dir, work), as_json=as_json)


@keys_app.command("revoke")
def revoke_key(
    key: Annotated[str, typer.Argument(help="Id of the key (see list), or the key itself.")],
    data_dir: DataDir = None,
) -> None:
    """Revoke a key; a running server rejects it within seconds."""
    from hoglet.access import provisioning as issue

    async def work(session: "AsyncSession") -> None:
        await issue.revoke_key(session, key)

    in_transaction(data_dir, work)
    print("Revoked.")


@projects_app.command("create")
def create_project(
    name: Annotated[str, typer.Argument(help="Name of the project.")],
    timezone: Annotated[str, typer.Option(help="Time zone of the project.")] = "UTC",
    data_dir: DataDir = None,
) -> None:
    """Create a project; prints its id and its capture token."""
    from hoglet.access import provisioning as issue

    if not name.strip():
        raise BadUsage("The name of the project is empty.")

    async def work(session: "AsyncSession") -> tuple[int, str]:
        project = await issue.create_project(session, SystemClock(), name=name, timezone=timezone)
        return project.id, project.api_token

    project_id, token = in_transaction(data_dir, work)
    print(f"{project_id} {token}")


@projects_app.command("list")
def list_projects(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List all projects with their capture tokens."""
    from hoglet.access import repository

    async def work(session: "AsyncSession") -> list[tuple[str, ...]]:
        projects = await repository.projects_of(session)
        return [(str(each.id), each.name, each.api_token, each.timezone) for each in projects]

    columns = ("id", "name", "token", "timezone")
    _print_rows(columns, in_transaction(data_dir, work), as_json=as_json)


def _print_rows(columns: tuple[str, ...], rows: list[tuple[str, ...]], *, as_json: bool) -> None:
    if as_json:
        names = [column.replace(" ", "_") for column in columns]
        print_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        print_table(columns, rows)


def _key_cells(row: Any, kind: str, projects: list[int]) -> tuple[str, ...]:
    used = "never" if row.last_used_at is None else f"{row.last_used_at:%Y-%m-%d %H:%M}"
    reach = ",".join(map(str, projects)) or "all"
    return (row.id, kind, row.label, row.mask_value, ",".join(row.scopes), reach, used)
