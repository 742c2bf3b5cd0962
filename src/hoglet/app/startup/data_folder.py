"""The data folder: private to its user, locked by one server."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Generator
from pathlib import Path
from typing import IO

import structlog

from hoglet.app.startup.errors import StartupFault

KEY_FILE = "secret.key"
_LOCK_FILE = "hoglet.lock"

log = structlog.get_logger()

_OWN_FILES = ("hoglet.db", _LOCK_FILE, "secret.", "server.")
_OWN_NAMES = (*_OWN_FILES, "warehouse", "backup-", "lost+found")


class DataFolderLock:
    """A lock held while a server uses the folder.

    An advisory lock on ``hoglet.lock``: the kernel releases it when the process ends, so a killed
    server never leaves a stale one. The file contains the process id for the error message.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _LOCK_FILE
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Acquire the lock.

        Raises:
            StartupFault: another process holds it.
        """
        file = self._path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            file.close()
            raise StartupFault(
                f"The data folder {self._path.parent} is in use by another hoglet server "
                f"(process {holder}): stop that one, or give this one its own --data-dir."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file

    def release(self) -> None:
        """Release the lock."""
        if self._file is not None:
            self._file.close()
            self._file = None


def prepare_data_folder(folder: Path) -> None:
    """Create the folder, or restrict an existing one to its owner: 0700, its files 0600.

    Also sets the umask, so that files created later are private.

    Raises:
        OSError: it cannot be created.
        StartupFault: it is not writable, or contains something that hoglet does not create.
    """
    os.umask(0o077)
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.name.startswith(_OWN_FILES):
            check_regular(entry)
    own = [entry for entry in folder.iterdir() if _is_own(entry)]
    for path in (folder, *own):
        _check_rights(path)
    if _is_shared(folder):
        log.warning(
            "other users can read the data folder; use a dedicated folder",
            action="data_folder_shared",
            folder=str(folder),
        )
    else:
        _close_to_others(folder)
    for entry in own:
        _close_to_others(entry)


@contextlib.contextmanager
def removed_after_failure(folder: Path) -> Generator[None]:
    """Remove a new, locked folder if the block fails before it puts anything into it."""
    try:
        yield
    except BaseException:
        if [entry.name for entry in folder.iterdir()] == [_LOCK_FILE]:
            with contextlib.suppress(OSError):  # another server is starting in it
                (folder / _LOCK_FILE).unlink()
                folder.rmdir()
        raise


def check_regular(path: Path) -> None:
    """Reject anything but a regular file: opening a named pipe would block, a device never ends.

    Raises:
        StartupFault: it exists and is a folder, pipe, socket or device, or a link to one.
    """
    if path.exists() and not path.is_file():
        raise StartupFault(f"{path} is not a regular file: move it away and start again.")


def _check_rights(path: Path) -> None:
    required = os.R_OK | (0 if path.name == KEY_FILE else os.W_OK)  # mounted secrets are read-only
    if os.access(path, required, effective_ids=True):
        return
    raise StartupFault(
        f"{path} cannot be {'read' if required == os.R_OK else 'written'}: the user that runs "
        "hoglet needs to own the data folder and everything in it."
    )


def _close_to_others(path: Path) -> None:
    """Remove permissions of group and others where the file system allows it."""
    mode = stat.S_IMODE(path.stat().st_mode)
    try:
        if mode & 0o077:
            path.chmod(mode & 0o700)
    except OSError as error:  # a mounted secret, or a file system without permissions
        log.warning(
            "other users can read a file", action="file_open", path=str(path), why=str(error)
        )


def _is_own(entry: Path) -> bool:
    """Whether hoglet may have created the entry; it never creates symbolic links."""
    name = entry.name
    if entry.is_symlink():
        return False
    if entry.is_dir():
        return name == "warehouse"
    return name.startswith(_OWN_FILES)


def _is_shared(folder: Path) -> bool:
    """Whether the folder is shared, as ``/opt`` and ``/tmp``, so that its mode must not change."""
    return bool(folder.stat().st_mode & stat.S_ISVTX) or any(
        entry.is_dir() and not entry.name.startswith(_OWN_NAMES) for entry in folder.iterdir()
    )
