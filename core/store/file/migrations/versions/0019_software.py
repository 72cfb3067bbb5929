"""Configurations and deployments by API have tables; pages of stacks have an index."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
contracts = False


def upgrade() -> None:
    """Add the tables and the index."""

    def text(name: str) -> sa.Column[str]:
        return sa.Column(name, sa.Text(), nullable=False)

    op.create_table(
        "software_config",
        *(text(name) for name in ("id", "project", "name", "kind", "body")),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_software_config"),
    )
    op.create_index(
        "ix_software_config_project", "software_config", ["project", "created_at", "id"]
    )
    names = ("id", "project", "server_id", "config_id", "body", "action", "status", "status_reason")
    op.create_table(
        "software_deployment",
        *(text(name) for name in names),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_software_deployment"),
    )
    op.create_index(
        "ix_software_deployment_project",
        "software_deployment",
        ["project", "server_id", "created_at"],
    )
    op.create_index("ix_software_deployment_config", "software_deployment", ["config_id"])
    op.create_index("ix_stack_project", "stack", ["project", "created_at", "id"])
