"""What alembic runs to bring a store up to date; the connection, in a transaction, is given."""

from alembic import context

from whence.store.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=METADATA,
    version_table=context.config.attributes["version_table"],
    # The transaction is that of whoever called: all of it is done, or nothing.
    transactional_ddl=True,
)
context.run_migrations()
