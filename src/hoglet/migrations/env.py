"""Read by Alembic for every command; the connection comes from ``upgrade.alembic_config``."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes.get("metadata"),
    transactional_ddl=True,  # also on SQLite, see upgrade.py
)
with context.begin_transaction():
    context.run_migrations()
