"""Stacks have the user who has created them; events have the properties of their time."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
contracts = False


def upgrade() -> None:
    """Add the column, with what the history says, and the table."""
    op.add_column("stack", sa.Column("created_by", sa.Text(), nullable=False, server_default=""))
    op.execute(
        'UPDATE stack SET created_by = COALESCE((SELECT action."by" FROM action '
        "WHERE action.stack_id = stack.id ORDER BY action.generation LIMIT 1), '')"
    )
    op.create_table(
        "event_properties",
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("properties", sa.Text(), nullable=False),
        sa.Column("hidden", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name="pk_event_properties"),
    )
    op.create_index("ix_event_properties_at", "event_properties", ["at"])
