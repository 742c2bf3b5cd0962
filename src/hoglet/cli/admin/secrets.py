"""``hoglet admin secrets``: encryption keys of stored secrets. Works on the data folder."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hoglet.cli.admin.data_folder import DataDir, check_is_there, in_transaction, with_database
from hoglet.kit.errors import HogletError

if TYPE_CHECKING:
    from hoglet.settings import Settings

secrets_app = typer.Typer(help="Encryption keys of stored secrets.", no_args_is_help=True)


class KeysConfigured(HogletError):
    """The keys are in the environment, so the key file is not used."""

    code = "keys_configured"
    blame = "operator"


@secrets_app.command("rotate")
def rotate(data_dir: DataDir = None) -> None:
    """Add a new key to the key file; the next start re-encrypts everything with it."""
    from hoglet.app.startup.errors import data_faults
    from hoglet.app.startup.secret_keys import add_secret_key

    settings = _settings(data_dir)
    if not settings.data_dir.is_file():  # that is reported below
        check_is_there(settings)
    if settings.secret_keys:
        raise KeysConfigured(
            "The keys are in HOGLET_SECRET_KEYS: put a new one first (hoglet admin "
            "secrets key prints one), restart all servers, then run hoglet admin "
            "secrets reencrypt."
        )
    with data_faults(settings):
        add_secret_key(settings)
    print("The key file has a new first key. Restart the server to re-encrypt all secrets with it.")
    print("Then remove the old lines from the file; older backups still need them.")


@secrets_app.command("key")
def key() -> None:
    """Print a new key for HOGLET_SECRET_KEYS."""
    from cryptography.fernet import Fernet

    print(Fernet.generate_key().decode())


@secrets_app.command("reencrypt")
def reencrypt(data_dir: DataDir = None) -> None:
    """Re-encrypt all stored secrets with the newest key; all servers must know that key already."""
    from hoglet.app.services.functions import open_box
    from hoglet.functions.secrets.rotation import reencrypt_all

    settings = _settings(data_dir)
    check_is_there(settings)
    box = open_box(settings)
    done = with_database(data_dir, lambda database: reencrypt_all(database, box))
    print(f"{done.encrypted} encrypted with the newest key.")
    if done.unreadable:
        print(f"{done.unreadable} cannot be decrypted with any key and were left unchanged.")
        raise typer.Exit(1)


@secrets_app.command("adopt")
def adopt(data_dir: DataDir = None) -> None:
    """Let the next start accept the configured keys, if the old ones are lost."""
    from hoglet.functions.secrets.key_check import forget_keys

    in_transaction(data_dir, forget_keys)
    print("The next start accepts the configured keys.")


def _settings(data_dir: Path | None) -> "Settings":
    from hoglet.settings import load_settings

    return load_settings(data_dir=data_dir)
