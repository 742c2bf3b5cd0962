"""The migrations produce exactly the declared tables, on both databases."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import make_url

from hoglet.migrations import migrate
from hoglet.migrations.metadata import load_all_tables
from hoglet.migrations.upgrade import alembic_config


def _blocking(url: str) -> str:
    return make_url(url.replace("+aiosqlite", "")).render_as_string(hide_password=False)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_upgrading_an_empty_database_gives_the_declared_tables(database_url: str):
    migrate(database_url)
    engine = create_engine(_blocking(database_url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        differences = compare_metadata(context, load_all_tables())
    engine.dispose()

    assert differences == [], "add a revision in migrations/versions (CONTRIBUTING.md)"


def test_upgrading_twice_changes_nothing(database_url: str):
    migrate(database_url)
    migrate(database_url)
    engine = create_engine(_blocking(database_url))
    names = inspect(engine).get_table_names()
    engine.dispose()

    assert {"jobs", "alembic_version"} <= set(names)


def test_a_failed_upgrade_leaves_nothing_behind(sqlite_url: str, monkeypatch: pytest.MonkeyPatch):
    def fail(*_arguments: object, **_more: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("alembic.op.create_index", fail)
        with pytest.raises(RuntimeError):
            migrate(sqlite_url)
    engine = create_engine(_blocking(sqlite_url))
    names = inspect(engine).get_table_names()
    engine.dispose()

    assert names == []


def test_an_upgrade_is_repeated_after_a_deadlock_with_a_server(postgres_url: str) -> None:
    """The version before locks ``spool_owners`` first, and migration 0034 ``spool_positions``."""
    migrate(postgres_url)
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        command.downgrade(alembic_config(connection), "0033")
    with ThreadPoolExecutor(1) as threads, engine.connect() as server, engine.connect() as watcher:
        server.execute(text("SET deadlock_timeout = '1h'"))  # the other transaction is ended
        server.execute(text("LOCK TABLE spool_owners IN ACCESS EXCLUSIVE MODE"))
        upgrading = threads.submit(migrate, postgres_url)
        waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IS NOT NULL")
        while not watcher.scalar(waiting) and not upgrading.done():
            time.sleep(0.01)
        server.execute(text("SELECT count(*) FROM spool_positions"))
        server.commit()
        upgrading.result(timeout=60)
    columns = {each["name"] for each in inspect(engine).get_columns("spool_positions")}
    engine.dispose()

    assert "named_by_members" in columns
