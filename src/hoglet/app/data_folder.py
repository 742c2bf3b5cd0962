"""The data folder: who holds it, and the keys that live in it."""

import fcntl
import os
from pathlib import Path
from typing import IO

from cryptography.fernet import Fernet

from hoglet.kit.errors import HogletError


class DataFolderInUse(HogletError):
    """Another server holds the folder; stop it, or choose another ``--data-dir``."""

    code = "data_folder_in_use"
    blame = "operator"


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
            DataFolderInUse: another process holds it.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            file.close()
            raise DataFolderInUse(
                f"The data folder {self._path.parent} is in use by another hoglet server "
                f"(process {holder}). Stop that one, or give this one its own --data-dir."
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


def secret_keys(folder: Path, configured: list[str]) -> list[str]:
    """The Fernet keys that seal stored secrets, newest first.

    Those of the settings if there are any; else the lines of ``secret.key`` (mode 0600) in the data
    folder, which is made with one new key on the first start. To rotate, put a new key on the
    first line and keep the old ones below it.
    """
    if configured:
        return configured
    path = folder / "secret.key"
    if not path.exists():
        _write_new_key(path)
    return [line.strip() for line in path.read_text().splitlines() if line.strip()]


def add_secret_key(folder: Path) -> None:
    """Put a new key before those in the key file; they keep opening what they sealed."""
    path = folder / "secret.key"
    _write_new_key(path, path.read_text() if path.exists() else "")


def _write_new_key(path: Path, others: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(Fernet.generate_key() + b"\n" + others.encode())
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)  # never a half-written key, whatever happens in between
