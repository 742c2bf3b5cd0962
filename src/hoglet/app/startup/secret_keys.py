"""Encryption keys of stored secrets: from the settings, or from ``secret.key``."""

import os
from pathlib import Path

import structlog
from cryptography.fernet import Fernet

from hoglet.access.bootstrap import has_project
from hoglet.app.startup.data_folder import KEY_FILE, check_regular
from hoglet.app.startup.errors import StartupFault
from hoglet.functions.secrets.box import SecretBox, read_keys
from hoglet.functions.secrets.key_check import claim_keys
from hoglet.functions.secrets.rotation import Counts, count_secrets
from hoglet.settings import Settings
from hoglet.store.database import Database

log = structlog.get_logger()

_RECOVERY = "restore the file from a backup, or set HOGLET_SECRET_KEYS to its lines"


async def open_secret_keys(database: Database, settings: Settings) -> list[str]:
    """The keys of a server; generated once, before a database's first project is created.

    Raises:
        StartupFault: the key file is missing or damaged, its keys do not decrypt the stored
            secrets, or the database belongs to other keys.
    """
    path = settings.data_dir / KEY_FILE
    if not settings.secret_keys and not path.exists():
        async with database.read() as session:
            is_used = await has_project(session)
        if is_used:
            raise _missing(path)
        _write_new_key(path)
    keys = read_secret_keys(settings)
    await _check(database, keys, settings)
    return keys


def read_secret_keys(settings: Settings) -> list[str]:
    """The Fernet keys for stored secrets, newest first: the first encrypts, all decrypt.

    From the settings if set, else the lines of ``secret.key``. To rotate, add a new first line and
    keep the old ones below.

    Raises:
        StartupFault: there is no file, or no key in it.
    """
    if settings.secret_keys:
        return settings.secret_keys
    path = settings.data_dir / KEY_FILE
    check_regular(path)
    try:
        keys = read_keys(path.read_text())
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        raise StartupFault(
            f"The key file {path} cannot be read ({error.strerror}): it contains the "
            "keys of stored secrets and must be owned by the user that runs hoglet."
        ) from None
    except ValueError:
        keys = []
    if not keys:
        raise StartupFault(
            f"The key file {path} is damaged, each line must be one key: {_RECOVERY}."
        )
    return keys


def add_secret_key(settings: Settings) -> None:
    """Add a new key as the first line of the key file; the old ones still decrypt.

    Raises:
        StartupFault: the key file of an existing database is missing.
    """
    path = settings.data_dir / KEY_FILE
    if not path.exists() and (settings.data_dir / "hoglet.db").exists():
        raise _missing(path)
    _write_new_key(path, path.read_text() if path.exists() else "")


async def _check(database: Database, keys: list[str], settings: Settings) -> None:
    box = SecretBox([key.encode() for key in keys])
    where = "HOGLET_SECRET_KEYS" if settings.secret_keys else settings.data_dir / KEY_FILE
    counts = await count_secrets(database, box)
    if counts.unreadable and counts.unreadable == counts.stored:
        raise StartupFault(
            f"No key of {where} decrypts the {counts.stored} stored secrets of functions and "
            "integrations: add the key that they were encrypted with, each on its own line of "
            f"{KEY_FILE} or comma-separated in HOGLET_SECRET_KEYS."
        )
    if counts.unreadable:
        log.warning(
            "no key decrypts some stored secrets", action="secrets_unreadable", **counts._asdict()
        )
    if not await claim_keys(database, box, may_replace=_may_replace(database, counts)):
        raise StartupFault(
            f"No key of {where} belongs to this database: set the same keys on all of its servers, "
            "or, if the old key is lost, run `hoglet admin secrets adopt`."
        )


def _may_replace(database: Database, counts: Counts) -> bool:
    """Whether these keys are correct even though the recorded key is not among them.

    They decrypt all stored secrets: an older version, which does not know the record, rotated them.
    Without secrets, another server on the same PostgreSQL may be about to encrypt the first one.
    """
    return not counts.unreadable and (counts.stored > 0 or database.is_sqlite)


def _missing(path: Path) -> StartupFault:
    return StartupFault(
        f"The key file {path} is missing, but the database is in use: the file "
        f"contains the key of the secrets of functions and integrations; {_RECOVERY}."
    )


def _write_new_key(path: Path, others: str = "") -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(Fernet.generate_key() + b"\n" + others.encode())
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)  # never leave a partial key, even after a crash
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
