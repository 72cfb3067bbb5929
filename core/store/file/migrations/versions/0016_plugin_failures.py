"""How often an operation was taken over without coming back; where a plug-in raised an error."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
contracts = False


def upgrade() -> None:
    """Add both."""
    take_overs = sa.Column("take_overs", sa.Integer(), nullable=False, server_default="0")
    op.add_column("resource", take_overs)
    op.add_column("failed", sa.Column("trace", sa.Text(), nullable=True))
