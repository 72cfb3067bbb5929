"""Whoever waits for the answer to a request holds a lock: no time tells of that any more."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None
contracts = True


def upgrade() -> None:
    """Leave that time out."""
    with op.batch_alter_table("request") as table:
        table.drop_column("claimed_at")
