"""``hoglet admin keys`` and ``hoglet admin projects`` against a real data folder."""

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hoglet.access.auth import AccessService
from hoglet.access.principals import Principal
from hoglet.cli.admin.keys import keys_app, projects_app
from hoglet.cli.error_handling import exit_code
from hoglet.kit.clock import SystemClock
from hoglet.kit.errors import HogletError
from hoglet.store.database import Database
from support.access import open_world


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    async def make() -> None:
        async with open_world(tmp_path):
            pass

    asyncio.run(make())
    return tmp_path


def run(app: object, *words: str, folder: Path) -> str:
    result = CliRunner().invoke(app, [*words, "--data-dir", str(folder)], catch_exceptions=False)  # pyright: ignore[reportArgumentType]
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def identify(folder: Path, key: str) -> Principal | None:
    async def identified() -> Principal | None:
        database = Database(f"sqlite+aiosqlite:///{folder / 'hoglet.db'}")
        try:
            return await AccessService(database, SystemClock()).identify(key)
        finally:
            await database.close()

    return asyncio.run(identified())


def test_a_key_is_printed_once_works_and_can_be_revoked(folder: Path) -> None:
    key = run(
        keys_app,
        "create",
        "--scopes",
        "action:read,endpoint:write",
        "--project",
        "1",
        folder=folder,
    )
    principal = identify(folder, key)

    assert key.startswith("phx_")
    assert principal is not None
    assert (principal.scopes, principal.scoped_teams) == ({"action:read", "endpoint:write"}, {1})
    listing = run(keys_app, "list", folder=folder)
    assert key not in listing
    assert principal.key_id in listing

    run(keys_app, "revoke", principal.key_id, folder=folder)

    assert identify(folder, key) is None


def test_a_secret_key_is_rotated_by_making_another(folder: Path) -> None:
    first = run(keys_app, "create", "--secret", folder=folder)
    second = run(keys_app, "create", "--secret", "--scopes", "query:read", folder=folder)

    assert identify(folder, first) is not None
    assert identify(folder, second) is not None
    run(keys_app, "revoke", first, folder=folder)
    assert identify(folder, first) is None
    with pytest.raises(HogletError, match="not a valid scope"):
        run(keys_app, "create", "--secret", "--scopes", "endpoint:write", folder=folder)


@pytest.mark.parametrize("scopes", ["", " ", "everything", "a:delete", "a", "hog_functoin:read"])
def test_bad_scopes_are_refused(folder: Path, scopes: str) -> None:
    with pytest.raises(HogletError, match=r"Scopes look like|Did you mean") as refused:
        run(keys_app, "create", "--scopes", scopes, folder=folder)
    assert exit_code(refused.value) == 2


def test_projects_are_made_and_listed(folder: Path) -> None:
    project_id, token = run(projects_app, "create", "Shop", folder=folder).split()

    assert project_id == "2"
    assert token.startswith("phc_")
    assert token in run(projects_app, "list", folder=folder)


def test_a_folder_without_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(HogletError, match=r"hoglet\.db"):
        run(keys_app, "list", folder=tmp_path / "empty")
    assert not (tmp_path / "empty").exists()
