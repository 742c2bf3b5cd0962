"""A database belongs to its encryption keys, even before it holds a secret."""

import asyncio
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import insert

from hoglet.access.bootstrap import ensure_first_project
from hoglet.access.tables import SigningKeyRow
from hoglet.app.startup.errors import StartupFault
from hoglet.app.startup.secret_keys import open_secret_keys
from hoglet.functions.secrets.box import SecretBox
from hoglet.functions.secrets.key_check import forget_keys
from hoglet.functions.secrets.rotation import reencrypt_all
from hoglet.kit.clock import SystemClock
from hoglet.settings import Settings
from hoglet.store.database import Database

OLD, NEW, FOREIGN = (Fernet.generate_key().decode() for _ in range(3))
REFUSED = "No key of HOGLET_SECRET_KEYS belongs to this database"


async def start(database: Database, *keys: str) -> list[str]:
    settings = Settings(data_dir=Path("unused"), secret_keys=list(keys))
    return await open_secret_keys(database, settings)


async def store_secret(database: Database, key: str, name: str = "first") -> None:
    await ensure_first_project(database, SystemClock())
    encrypted = SecretBox([key.encode()]).encrypt({"key": name})
    row = {"id": name, "project_id": 1, "encrypted": encrypted, "created_at": SystemClock().now()}
    async with database.write() as session:
        await session.execute(insert(SigningKeyRow).values(**row))


async def test_servers_without_secrets_share_one_key(postgres_database: Database):
    await start(postgres_database, OLD)

    with pytest.raises(StartupFault, match=REFUSED):
        await start(postgres_database, FOREIGN)
    assert await start(postgres_database, FOREIGN, OLD) == [FOREIGN, OLD]
    with pytest.raises(StartupFault, match=REFUSED):
        await start(postgres_database, FOREIGN)


async def test_of_two_first_starts_with_different_keys_one_fails(postgres_database: Database):
    starts = (start(postgres_database, key) for key in (OLD, NEW))
    outcomes = await asyncio.gather(*starts, return_exceptions=True)

    assert sorted(isinstance(outcome, StartupFault) for outcome in outcomes) == [False, True]


async def test_one_server_without_secrets_may_change_its_key(sqlite_database: Database):
    await start(sqlite_database, OLD)
    await start(sqlite_database, NEW)
    await store_secret(sqlite_database, NEW)

    with pytest.raises(StartupFault, match="No key of HOGLET_SECRET_KEYS decrypts"):
        await start(sqlite_database, OLD)


async def test_a_rotation_moves_the_database_to_the_new_key(database: Database):
    await start(database, OLD)
    await store_secret(database, OLD)
    await start(database, NEW, OLD)
    await start(database, OLD)  # a server that was not restarted with the new key yet
    boxes = [SecretBox([key.encode() for key in keys]) for keys in ((FOREIGN,), (NEW, OLD))]
    results = [await reencrypt_all(database, box) for box in boxes]

    assert [result.encrypted for result in results] == [0, 1]
    assert await start(database, NEW) == [NEW]
    with pytest.raises(StartupFault):
        await start(database, OLD)


async def test_keys_that_decrypt_every_secret_are_right(database: Database):
    """A version that does not know the record may have rotated them."""
    await start(database, OLD)
    await store_secret(database, NEW)

    assert await start(database, NEW) == [NEW]
    with pytest.raises(StartupFault):
        await start(database, OLD)


async def test_some_unreadable_secrets_do_not_stop_the_right_key(database: Database):
    await start(database, OLD)
    await store_secret(database, OLD)
    await store_secret(database, FOREIGN, "second")

    assert await start(database, OLD) == [OLD]
    with pytest.raises(StartupFault, match=REFUSED):
        await start(database, FOREIGN)


async def test_a_lost_key_can_be_given_up(postgres_database: Database):
    await start(postgres_database, OLD)
    async with postgres_database.write() as session:
        await forget_keys(session)

    assert await start(postgres_database, NEW) == [NEW]
    with pytest.raises(StartupFault, match=REFUSED):
        await start(postgres_database, OLD)
