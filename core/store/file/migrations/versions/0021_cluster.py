"""A cluster has members and duties; requests name the tree that they are for."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
contracts = False


def upgrade() -> None:
    """Add the tables, empty, and the column."""
    op.create_table(
        "member",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("id", "host")),
        sa.Column("pid", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("version", "plugins", "url")),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("draining", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_member"),
    )
    op.create_table(
        "duty",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("member", sa.Text(), nullable=True),
        sa.Column("since", sa.Float(), nullable=False),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.Column("takeovers", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_duty"),
        sa.ForeignKeyConstraint(
            ["member"], ["member.id"], name="fk_duty_member", ondelete="SET NULL"
        ),
    )
    free, unanswered = sa.text("member IS NULL"), sa.text("answered_at IS NULL")
    op.create_index("ix_duty_member", "duty", ["member"])
    op.create_index(
        "ix_duty_free", "duty", ["not_before"], sqlite_where=free, postgresql_where=free
    )
    op.add_column("request", sa.Column("root_id", sa.Text(), nullable=False, server_default=""))
    op.create_index(
        "ix_request_open",
        "request",
        ["root_id"],
        sqlite_where=unanswered,
        postgresql_where=unanswered,
    )
