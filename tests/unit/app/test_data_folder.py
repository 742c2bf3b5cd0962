"""The data folder is locked by one server, and its key file is created once."""

import errno
import os
import shutil
import socket
import stat
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from hoglet.access.bootstrap import ensure_first_project
from hoglet.app.startup.data_folder import (
    DataFolderLock,
    prepare_data_folder,
    removed_after_failure,
)
from hoglet.app.startup.errors import StartupFault, describe
from hoglet.app.startup.secret_keys import (
    add_secret_key,
    open_secret_keys,
    read_secret_keys,
)
from hoglet.app.startup.server_file import (
    ServerAddress,
    killed_server,
    read_server_file,
    remove_server_file,
    write_server_file,
)
from hoglet.kit.clock import SystemClock
from hoglet.settings import Settings
from hoglet.store.database import Database
from hoglet.warehouse.errors import QueryTooCostly

KEYS = [Fernet.generate_key().decode() for _ in range(2)]


def test_a_second_server_is_refused_until_the_first_lets_go(tmp_path: Path):
    first, second = DataFolderLock(tmp_path), DataFolderLock(tmp_path)
    first.acquire()

    with pytest.raises(StartupFault, match="in use"):
        second.acquire()
    first.release()
    second.acquire()


@pytest.mark.parametrize("other", [None, "hoglet.db"])
def test_a_failed_start_removes_a_folder_that_it_did_not_use(tmp_path: Path, other: str | None):
    folder = tmp_path / "data"
    folder.mkdir()
    lock = DataFolderLock(folder)
    lock.acquire()

    if other:
        (folder / other).touch()

    with pytest.raises(StartupFault), removed_after_failure(folder):
        raise StartupFault("no")

    assert folder.exists() == (other is not None)


async def test_the_key_is_made_once_and_readable_by_its_owner_only(
    sqlite_database: Database, tmp_path: Path
):
    settings = Settings(data_dir=tmp_path)
    keys = await open_secret_keys(sqlite_database, settings)

    assert await open_secret_keys(sqlite_database, settings) == keys
    assert read_secret_keys(settings) == keys
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600


async def test_a_database_in_use_gets_no_new_key(sqlite_database: Database, tmp_path: Path):
    """Even when the data folder was lost, with the key in it, and the database is elsewhere."""
    await ensure_first_project(sqlite_database, SystemClock())
    settings = Settings(data_dir=tmp_path)

    with pytest.raises(StartupFault, match=r"secret\.key is missing"):
        await open_secret_keys(sqlite_database, settings)
    with pytest.raises(StartupFault, match=r"secret\.key is missing"):
        read_secret_keys(settings)
    assert not (tmp_path / "secret.key").exists()


async def test_configured_keys_win(sqlite_database: Database, tmp_path: Path):
    settings = Settings(data_dir=tmp_path, secret_keys=KEYS)

    assert await open_secret_keys(sqlite_database, settings) == KEYS
    assert not (tmp_path / "secret.key").exists()


@pytest.mark.parametrize("between", ["\n", "\r\n\r\n", ",", " "])
def test_every_key_of_the_file_counts(tmp_path: Path, between: str):
    (tmp_path / "secret.key").write_text(between.join(KEYS))

    assert read_secret_keys(Settings(data_dir=tmp_path)) == KEYS


@pytest.mark.parametrize(
    "text",
    [f"{KEYS[0]};{KEYS[1]}", "".join(KEYS), f'"{KEYS[0]}"', "\n"],
    ids=["semicolon", "joined", "quoted", "empty"],  # keys differ in each process
)
def test_a_key_file_with_anything_else_is_damaged(tmp_path: Path, text: str):
    (tmp_path / "secret.key").write_text(text)

    with pytest.raises(StartupFault, match=r"secret\.key is damaged"):
        read_secret_keys(Settings(data_dir=tmp_path))


def test_rotation_does_not_hide_that_the_key_is_gone(tmp_path: Path):
    (tmp_path / "hoglet.db").touch()

    with pytest.raises(StartupFault, match=r"secret\.key is missing"):
        add_secret_key(Settings(data_dir=tmp_path))


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.fixture
def umask() -> Generator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("name", ["secret.key", "hoglet.lock", "hoglet.db", "server.json"])
@pytest.mark.parametrize(
    "create", [os.mkfifo, os.mkdir, _socket, lambda path: path.symlink_to("/dev/zero")]
)
def test_what_is_no_file_is_not_opened(
    tmp_path: Path, name: str, create: Callable[[Path], None]
) -> None:
    create(tmp_path / name)

    with pytest.raises(StartupFault, match=f"{name} is not a regular file"):
        prepare_data_folder(tmp_path)


@pytest.mark.usefixtures("umask")
def test_a_mounted_key_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "mounted").write_text(KEYS[0])
    (tmp_path / "secret.key").symlink_to(tmp_path / "mounted")

    prepare_data_folder(tmp_path)

    assert read_secret_keys(Settings(data_dir=tmp_path)) == KEYS[:1]


def test_a_file_system_without_locks_is_named():
    sentence = describe(OSError(errno.ENOLCK, "No locks available"), Settings())

    assert "a --data-dir on a local disk" in sentence


def test_a_copy_of_a_folder_does_not_take_the_server_of_the_original_for_killed(
    tmp_path: Path,
) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    folder = original.stat().st_ino
    write_server_file(original, ServerAddress("http://[::1]:8000", "token", "name", folder))
    shutil.copytree(original, copy)

    assert (killed_server(original), killed_server(copy)) == ("name", None)
    remove_server_file(original)
    assert killed_server(original) is None


def test_the_server_file_is_removed_as_far_as_it_can_be(tmp_path: Path):
    write_server_file(tmp_path, ServerAddress("http://[::1]:8000", "token"))
    assert read_server_file(tmp_path) == ServerAddress("http://[::1]:8000", "token")
    for _ in range(2):
        remove_server_file(tmp_path)
        assert read_server_file(tmp_path) is None

    (tmp_path / "server.json").mkdir()
    remove_server_file(tmp_path)  # it must not replace the error of a start
    assert (tmp_path / "server.json").is_dir()


def test_a_warehouse_on_a_busy_machine_is_not_said_to_be_broken():
    slow = QueryTooCostly("The query exceeded its time limit.", code="query_timeout")
    sentence = describe(slow, Settings())
    assert "did not answer within 120 seconds" in sentence
    assert "backup" not in sentence
