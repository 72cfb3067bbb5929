"""Sign-ins of the pages, and plans that they have shown, are rows: any server has them."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None
contracts = False

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, empty."""
    op.create_table(
        "page_state",
        *(
            sa.Column(name, TEXT, nullable=False)
            for name in ("id", "kind", "project", "user_id", "body")
        ),
        sa.Column("ends_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_page_state"),
    )
    op.create_index("ix_page_state_ends_at", "page_state", ["kind", "ends_at"])
