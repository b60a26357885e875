"""How Alembic runs a migration here: on the connection, and in the transaction, that `migrate` opened."""

from alembic import context

from lib.database.columns import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True
)
with context.begin_transaction():
    context.run_migrations()
