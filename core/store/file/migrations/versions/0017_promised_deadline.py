"""Resources keep the deadline that plug-ins were told; the other one moves with the clock."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None
contracts = False


def upgrade() -> None:
    """Add the column."""
    with op.batch_alter_table("resource") as batch:
        batch.add_column(sa.Column("promised_deadline", sa.Float(), nullable=True))
    op.execute("UPDATE resource SET promised_deadline = deadline WHERE op != ''")
