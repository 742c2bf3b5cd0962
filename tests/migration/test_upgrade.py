"""The migrations produce exactly the declared tables, on both databases."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import make_url

from hoglet.migrations import migrate
from hoglet.migrations.metadata import load_all_tables


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
