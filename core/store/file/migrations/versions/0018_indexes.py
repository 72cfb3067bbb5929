"""What is looked for by physical id, by the name of a deleted stack, or by its age has an index."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None
contracts = False


def upgrade() -> None:
    """Add the indexes."""
    gone, bound = sa.text("deleted_at IS NOT NULL"), sa.text("physical_id IS NOT NULL")
    name = ["project", "name", "deleted_at"]
    op.create_index("ix_stack_gone_name", "stack", name, sqlite_where=gone)
    op.create_index("ix_resource_physical_id", "resource", ["physical_id"], sqlite_where=bound)
    op.create_index("ix_action_ended_at", "action", ["ended_at"])
    op.create_index("ix_failed_at", "failed", ["at"])
    op.create_index("ix_drift_check_ended_at", "drift_check", ["ended_at"])
    op.create_index("ix_request_answered_at", "request", ["answered_at"])
