"""Members say whether a session of theirs listens for as long as they live."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None
contracts = False

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the column; of members of a release before nothing is known."""
    op.add_column("member", sa.Column("listens", NUMBER, nullable=False, server_default="0"))
