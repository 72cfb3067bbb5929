"""Alembic's way in: the connection comes from ``migrate.py``."""

from alembic import context

from zonda.core.store.schema import page_tables, software_tables  # noqa: F401 - their tables, too
from zonda.core.store.schema.drift_tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
