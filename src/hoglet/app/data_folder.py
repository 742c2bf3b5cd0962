"""The data folder: for its user's eyes only, and held by one server."""

import fcntl
import os
import stat
from pathlib import Path
from typing import IO

import structlog

from hoglet.app.startup_faults import StartupFault

KEY_FILE = "secret.key"

log = structlog.get_logger()

_OWN_FILES = ("hoglet.db", "hoglet.lock", "secret.", "server.")
_OWN_NAMES = (*_OWN_FILES, "warehouse", "backup-", "lost+found")


class DataFolderLock:
    """Held while a server runs on the folder.

    An advisory lock on ``hoglet.lock``: the kernel drops it when the process ends in whatever way,
    so a killed server never leaves a stale one. The file holds the process id for the message.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "hoglet.lock"
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the lock.

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
        """Give the lock back."""
        if self._file is not None:
            self._file.close()
            self._file = None


def prepare_data_folder(folder: Path) -> None:
    """Make the folder, or close an existing one to other users: 0700, its files 0600.

    From now on every file that this process makes is closed to others, too.

    Raises:
        OSError: it cannot be made.
        StartupFault: it cannot be written.
    """
    os.umask(0o077)
    folder.mkdir(parents=True, exist_ok=True)
    own = [entry for entry in folder.iterdir() if _is_own(entry)]
    for path in (folder, *own):
        _check_rights(path)
    if _is_shared(folder):
        log.warning(
            "other users may see the data folder; give hoglet one of its own",
            action="data_folder_shared",
            folder=str(folder),
        )
    else:
        _close_to_others(folder)
    for entry in own:
        _close_to_others(entry)


def _check_rights(path: Path) -> None:
    wanted = os.R_OK | (0 if path.name == KEY_FILE else os.W_OK)  # a mounted secret is read-only
    if os.access(path, wanted, effective_ids=True):
        return
    raise StartupFault(
        f"{path} cannot be {'read' if wanted == os.R_OK else 'written'}: the user that runs hoglet "
        "needs to own the data folder and everything in it."
    )


def _close_to_others(path: Path) -> None:
    """Take the rights of group and others away, as far as the file system lets us."""
    mode = stat.S_IMODE(path.stat().st_mode)
    try:
        if mode & 0o077:
            path.chmod(mode & 0o700)
    except OSError as error:  # a mounted secret, or a file system without modes
        log.warning(
            "other users may see a file", action="file_open", path=str(path), why=str(error)
        )


def _is_own(entry: Path) -> bool:
    """Whether hoglet made it: a symbolic link was made by somebody else."""
    name = entry.name
    if entry.is_symlink():
        return False
    if entry.is_dir():
        return name == "warehouse"
    return name.startswith(_OWN_FILES)


def _is_shared(folder: Path) -> bool:
    """Whether it holds folders of others, as ``/opt`` and ``/tmp`` do: those stay open."""
    return bool(folder.stat().st_mode & stat.S_ISVTX) or any(
        entry.is_dir() and not entry.name.startswith(_OWN_NAMES) for entry in folder.iterdir()
    )
