"""``hoglet backup`` and ``hoglet restore``: copy a data folder while its server runs, and back."""

import fcntl
import os
import shutil
import tarfile
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn

from hoglet.cli.admin.data_folder import DataDir, NoData
from hoglet.cli.error_handling import BadUsage
from hoglet.cli.server.address import server_url
from hoglet.cli.server.api_client import ApiUnreachable, check_key, no_answer
from hoglet.cli.server.api_errors import ApiRefused
from hoglet.kit.errors import HogletError

_SECONDS = 600  # until the first byte: the database is copied before


class BadBackup(HogletError):
    """The received data is not a complete backup."""

    code = "bad_backup"
    blame = "operator"


def backup(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="New folder for the backup.")],
    data_dir: DataDir = None,
    url: Annotated[
        str | None,
        typer.Option("--url", envvar="HOGLET_URL", help="URL of a server on another machine."),
    ] = None,
    key: Annotated[
        str,
        typer.Option("--key", envvar="HOGLET_API_KEY", help="Personal API key of a staff user."),
    ] = "",
) -> None:
    """Copy all data of a running server as of one moment, without stopping it."""
    if data_dir is not None:
        _check_one_source(context)
        url = None
    _check_new(folder)
    with _requested(data_dir, url, key) as response, _partial(folder) as partial:
        _extract(response, partial)
        _check_complete(partial)
        has_key = url is None and _copy_key(data_dir, partial)
        _put_in_place(partial, folder)
    print(f"The backup is in {folder}.")
    if not has_key:
        print(
            "It does not contain secret.key, which decrypts stored secrets: copy that separately."
        )


def restore(
    folder: Annotated[Path, typer.Argument(help="Folder of a backup.", exists=True)],
    data_dir: Annotated[Path, typer.Option("--data-dir", help="New data folder.")],
) -> None:
    """Restore a backup to a new data folder, on which a server can then be started."""
    _check_complete(folder)
    _check_new(data_dir)
    from hoglet.app.backup.layout import MANIFEST

    ignored = shutil.ignore_patterns(MANIFEST)
    with _partial(data_dir) as partial:
        shutil.copytree(folder, partial, symlinks=True, ignore=ignored, dirs_exist_ok=True)
        partial.chmod(0o700)
        if data_dir.exists():
            data_dir.rmdir()
        _put_in_place(partial, data_dir)
    print(f"Restored. Start it with: hoglet serve --data-dir {data_dir}")
    if not (data_dir / "secret.key").exists():
        print("Copy secret.key into it first, or set HOGLET_SECRET_KEYS.")


def _check_one_source(context: typer.Context) -> None:
    """``--data-dir`` is stronger than the variable, as the nearer one."""
    source = context.get_parameter_source("url")
    if source is not None and source.name == "COMMANDLINE":
        raise BadUsage("--data-dir and --url name two servers: use only one of them.")


@contextmanager
def _partial(folder: Path) -> Generator[Path]:
    """An empty folder beside this one, which is renamed when it is complete.

    Raises:
        BadUsage: another command writes to it.
        BadBackup: a file cannot be read or written.
    """
    partial = folder.with_name(folder.name + ".partial")
    with _writing(folder):
        partial.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _lock(opened, partial)
            for path in partial.iterdir():  # what a killed command left
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            yield partial
        finally:
            os.close(opened)


def _lock(opened: int, partial: Path) -> None:
    """Keep other commands from a folder until it is closed, where its file system can."""
    is_held = False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        is_held = True
    except OSError:
        return
    is_renamed = not partial.exists() or not os.path.samestat(os.fstat(opened), partial.stat())
    if is_held or is_renamed:
        raise BadUsage(f"Another command is writing to {partial}; wait until it has ended.")


def _put_in_place(partial: Path, folder: Path) -> None:
    """Rename a folder once all of it is on disk: a power failure leaves all of it or nothing."""
    for path in (partial, *partial.rglob("*")):
        if not path.is_symlink():
            _sync(path)
    partial.rename(folder)
    _sync(folder.parent)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def _writing(folder: Path) -> Generator[None]:
    """Write files that only their user can read.

    Raises:
        BadBackup: a file cannot be read or written.
    """
    before = os.umask(0o077)
    try:
        yield
    except OSError as error:
        reason = error.strerror or _reason(error)
        raise BadBackup(f"{folder} cannot be written ({reason}); it is incomplete.") from None
    finally:
        os.umask(before)


def _reason(error: OSError) -> str:
    """The first reason of ``shutil.Error``, which lists each file that it could not copy.

    The reason is a text: ``[Errno 28] No space left on device: '/from' -> '/to'``.
    """
    copied = error.args[0] if isinstance(error, shutil.Error) else None
    text = str(copied[0][2] if copied else error)
    return text.partition("] ")[2].partition(": ")[0] or text


def _check_new(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadUsage(f"{folder} exists and is not an empty folder; choose another one.")


def _check_complete(folder: Path) -> None:
    from hoglet.app.backup.layout import DATABASE, MANIFEST, WAREHOUSE

    missing = [name for name in (DATABASE, WAREHOUSE, MANIFEST) if not (folder / name).exists()]
    if missing:
        raise BadUsage(f"{folder} is not a complete backup: {', '.join(missing)} is missing.")


@contextmanager
def _requested(data_dir: Path | None, url: str | None, key: str) -> Generator[IO[bytes]]:
    request = _remote(url, key) if url else _local(data_dir)
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:  # noqa: S310
            yield response
    except urllib.error.HTTPError as error:
        raise ApiRefused(_detail(error), status=error.code) from None
    except OSError as error:
        raise no_answer(request.full_url.removesuffix("/_backup"), error) from None


def _remote(url: str, key: str) -> urllib.request.Request:
    if not key:
        raise ApiUnreachable("Specify an API key with --key or HOGLET_API_KEY.")
    check_key(key)
    headers = {"Authorization": f"Bearer {key}"}
    return urllib.request.Request(  # noqa: S310 (see server_url)
        f"{server_url(url)}/_backup", method="POST", headers=headers
    )


def _local(data_dir: Path | None) -> urllib.request.Request:
    from hoglet.app.startup.server_file import TOKEN_HEADER, read_server_file
    from hoglet.settings import load_settings

    folder = load_settings(data_dir=data_dir).data_dir
    server = read_server_file(folder)
    if server is None:
        raise NoData(
            f"No server is running on {folder}: specify --data-dir, or --url and --key "
            "for another machine. The folder of a stopped server can simply be "
            "copied."
        )
    headers = {TOKEN_HEADER: server.token}
    return urllib.request.Request(  # noqa: S310 (hoglet's own)
        f"{server.url}/_backup", method="POST", headers=headers
    )


def _detail(error: urllib.error.HTTPError) -> str:
    import json

    try:
        return str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        return f"The server responded with {error.code}."


def _extract(response: IO[bytes], folder: Path) -> None:
    """Unpack the archive as it arrives."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), DownloadColumn())
    with Progress(*columns, transient=True, disable=not os.isatty(2)) as progress:
        counted = _CountedFile(response, progress)
        try:
            with tarfile.open(fileobj=counted, mode="r|") as archive:  # type: ignore[call-overload]
                archive.extractall(folder, filter="tar")
        except (tarfile.TarError, HTTPException, OSError) as error:
            is_closed = isinstance(error, HTTPException | ConnectionError)
            reason = "the server closed the connection" if is_closed else error
            raise BadBackup(f"The backup ended early ({reason}); {folder} is incomplete.") from None


class _CountedFile:
    """Reads on behalf of ``tarfile`` and shows how much has arrived."""

    def __init__(self, file: IO[bytes], progress: Progress) -> None:
        self._file = file
        self._progress = progress
        self._task: Any = progress.add_task("copying", total=None)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._progress.advance(self._task, len(data))
        return data


def _copy_key(data_dir: Path | None, folder: Path) -> bool:
    from hoglet.app.backup.layout import KEY_FILE
    from hoglet.settings import load_settings

    source = load_settings(data_dir=data_dir).data_dir / KEY_FILE
    if not source.exists():
        return False
    shutil.copy2(source, folder / KEY_FILE)
    return True
