"""``server.json`` in the data folder: the address of the server for local commands, and its name.

A killed server leaves it behind: the next one learns from it whose leases nobody holds any more.
A user who can read it can read the database as well, so its token grants the same access.
"""

import contextlib
import os
import secrets
from pathlib import Path

import msgspec

TOKEN_HEADER = "X-Hoglet-Local-Token"  # noqa: S105 (its name)
_NAME = "server.json"


class ServerAddress(msgspec.Struct, frozen=True):
    """``{"url": "http://127.0.0.1:8000", "token": "3f…", "name": "host-7-01…"}``.

    ``name`` is unique to the process; versions without heartbeats of leases did not write it.
    ``folder`` is the inode of the data folder.
    """

    url: str
    token: str
    name: str | None = None
    folder: int | None = None


def make_token() -> str:
    """Generate a token that is valid until the server stops."""
    return secrets.token_urlsafe(32)


def write_server_file(data_dir: Path, address: ServerAddress) -> None:
    """Replace the file of an earlier start."""
    path = data_dir / _NAME
    temporary = path.with_suffix(".new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(msgspec.json.encode(address))
    temporary.rename(path)


def read_server_file(data_dir: Path) -> ServerAddress | None:
    """The server that uses the folder or used it last; None without a file."""
    try:
        return msgspec.json.decode((data_dir / _NAME).read_bytes(), type=ServerAddress)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def killed_server(data_dir: Path) -> str | None:
    """The name of the server that was killed on this folder; None if it stopped.

    None in a copy of a folder too: the server of the original may be running.
    """
    address = read_server_file(data_dir)
    if address is None or address.folder != data_dir.stat().st_ino:
        return None
    return address.name


def remove_server_file(data_dir: Path) -> None:
    """Remove the file when the server stops; a killed server leaves it behind.

    A folder that became read-only is no error, as it would hide why a start failed.
    """
    with contextlib.suppress(OSError):
        (data_dir / _NAME).unlink(missing_ok=True)
