"""The first released schema."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "action",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=False),
        sa.Column("template_id", sa.Text(), nullable=True),
        sa.Column("template_hash", sa.Text(), nullable=False),
        sa.Column("environment_hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_action")),
    )
    op.create_index("ix_action_stack", "action", ["stack_id", "generation"], unique=False)
    op.create_table(
        "failed",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("resource_id", sa.Text(), nullable=False),
        sa.Column("resource_name", sa.Text(), nullable=False),
        sa.Column("resource_type", sa.Text(), nullable=False),
        sa.Column("physical_id", sa.Text(), nullable=True),
        sa.Column("op", sa.Text(), nullable=False),
        sa.Column("op_id", sa.Text(), nullable=True),
        sa.Column("template_id", sa.Text(), nullable=True),
        sa.Column("properties", sa.Text(), nullable=True),
        sa.Column("hidden", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("during", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failed")),
    )
    op.create_index("ix_failed_stack", "failed", ["stack_id", "generation"], unique=False)
    op.create_table(
        "event",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("stack_name", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("resource_id", sa.Text(), nullable=True),
        sa.Column("resource_name", sa.Text(), nullable=False),
        sa.Column("resource_type", sa.Text(), nullable=False),
        sa.Column("physical_id", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_event")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_event_stack_id"), "event", ["stack_id"], unique=False)
    op.create_table(
        "meta",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_meta")),
    )
    op.create_table(
        "request",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("claimed_at", sa.Float(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("answered_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_request")),
    )
    op.create_table(
        "sink",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("delivered", sa.Integer(), nullable=False),
        sa.Column("delivered_at", sa.Float(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", sa.Float(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sink")),
    )
    op.create_table(
        "snapshot",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=False),
        sa.Column("template_id", sa.Text(), nullable=True),
        sa.Column("data", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot")),
    )
    op.create_index(op.f("ix_snapshot_stack_id"), "snapshot", ["stack_id"], unique=False)
    op.create_table(
        "stack",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner_resource_id", sa.Text(), nullable=True),
        sa.Column("root_id", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("remaining", sa.Integer(), nullable=False),
        sa.Column("halted", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Text(), nullable=False),
        sa.Column("next_action", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=False),
        sa.Column("template_id", sa.Text(), nullable=True),
        sa.Column("good_template_id", sa.Text(), nullable=True),
        sa.Column("good_parts", sa.Text(), nullable=False),
        sa.Column("outside", sa.Text(), nullable=False),
        sa.Column("disable_rollback", sa.Integer(), nullable=False),
        sa.Column("timeout_mins", sa.Integer(), nullable=False),
        sa.Column("deadline", sa.Float(), nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("suspended", sa.Integer(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("policies", sa.Text(), nullable=False),
        sa.Column("protect", sa.Integer(), nullable=False),
        sa.Column("drift_policy", sa.Text(), nullable=False),
        sa.Column("drift_schedule", sa.Text(), nullable=False),
        sa.Column("drift_next", sa.Float(), nullable=True),
        sa.Column("drift_by", sa.Text(), nullable=False),
        sa.Column("drift_said", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=True),
        sa.Column("deleted_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stack")),
    )
    op.create_index(
        op.f("ix_stack_owner_resource_id"), "stack", ["owner_resource_id"], unique=False
    )
    op.create_index(op.f("ix_stack_root_id"), "stack", ["root_id"], unique=False)
    op.create_index(
        "ix_stack_busy",
        "stack",
        ["deadline"],
        unique=False,
        sqlite_where=sa.text("phase != 'IDLE'"),
        postgresql_where=sa.text("phase != 'IDLE'"),
    )
    op.create_index("ix_stack_drift_next", "stack", ["drift_next"], unique=False)
    op.create_index(
        "ix_stack_next",
        "stack",
        ["next_action"],
        unique=False,
        sqlite_where=sa.text("next_action != ''"),
        postgresql_where=sa.text("next_action != ''"),
    )
    op.create_index(
        "uq_stack_live_name",
        "stack",
        ["project", "name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "template",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("base_id", sa.Text(), nullable=True),
        sa.Column("checked", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_template")),
    )
    op.create_index(op.f("ix_template_base_id"), "template", ["base_id"], unique=False)
    op.create_table(
        "resource",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("class_type", sa.Text(), nullable=False),
        sa.Column("replaces_id", sa.Text(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("want", sa.Text(), nullable=False),
        sa.Column("verb", sa.Text(), nullable=False),
        sa.Column("want_hash", sa.Text(), nullable=False),
        sa.Column("want_template_id", sa.Text(), nullable=True),
        sa.Column("requires", sa.Text(), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("dirty", sa.Integer(), nullable=False),
        sa.Column("open", sa.Integer(), nullable=False),
        sa.Column("ceiling", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=False),
        sa.Column("have_hash", sa.Text(), nullable=False),
        sa.Column("resolved_hash", sa.Text(), nullable=False),
        sa.Column("have_template_id", sa.Text(), nullable=True),
        sa.Column("definition", sa.Text(), nullable=True),
        sa.Column("properties", sa.Text(), nullable=True),
        sa.Column("hidden", sa.Text(), nullable=False),
        sa.Column("deletion_policy", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("physical_id", sa.Text(), nullable=True),
        sa.Column("reference", sa.Text(), nullable=True),
        sa.Column("outputs", sa.Text(), nullable=True),
        sa.Column("outputs_hash", sa.Text(), nullable=False),
        sa.Column("below", sa.Integer(), nullable=False),
        sa.Column("below_seen", sa.Integer(), nullable=False),
        sa.Column("meta", sa.Text(), nullable=False),
        sa.Column("suspended", sa.Integer(), nullable=False),
        sa.Column("given", sa.Text(), nullable=True),
        sa.Column("op", sa.Text(), nullable=False),
        sa.Column("op_id", sa.Text(), nullable=True),
        sa.Column("op_gen", sa.Integer(), nullable=False),
        sa.Column("op_hash", sa.Text(), nullable=False),
        sa.Column("op_template_id", sa.Text(), nullable=True),
        sa.Column("op_definition", sa.Text(), nullable=True),
        sa.Column("op_properties", sa.Text(), nullable=True),
        sa.Column("op_resolved", sa.Text(), nullable=False),
        sa.Column("op_state", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=True),
        sa.Column("is_volatile", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failed_attempts", sa.Integer(), nullable=False),
        sa.Column("most_attempts", sa.Integer(), nullable=False),
        sa.Column("retry_delay", sa.Float(), nullable=False),
        sa.Column("retry_at", sa.Float(), nullable=True),
        sa.Column("started_at", sa.Float(), nullable=True),
        sa.Column("deadline", sa.Float(), nullable=True),
        sa.Column("protect", sa.Integer(), nullable=False),
        sa.Column("hook", sa.Text(), nullable=False),
        sa.Column("hook_until", sa.Float(), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stack_id"], ["stack.id"], name=op.f("fk_resource_stack_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource")),
        sa.UniqueConstraint("op_id", name=op.f("uq_resource_op_id")),
    )
    op.create_index(
        "ix_resource_behind",
        "resource",
        ["below"],
        unique=False,
        sqlite_where=sa.text("below != below_seen"),
        postgresql_where=sa.text("below != below_seen"),
    )
    op.create_index(
        "ix_resource_hook_until",
        "resource",
        ["hook_until"],
        unique=False,
        sqlite_where=sa.text("hook_until IS NOT NULL"),
        postgresql_where=sa.text("hook_until IS NOT NULL"),
    )
    op.create_index(
        "ix_resource_protected",
        "resource",
        ["protect"],
        unique=False,
        sqlite_where=sa.text("protect = 1"),
        postgresql_where=sa.text("protect = 1"),
    )
    op.create_index(
        "ix_resource_running",
        "resource",
        ["deadline"],
        unique=False,
        sqlite_where=sa.text("op != ''"),
        postgresql_where=sa.text("op != ''"),
    )
    op.create_index("ix_resource_stack", "resource", ["stack_id", "open"], unique=False)
    op.create_table(
        "edge",
        sa.Column("src", sa.Text(), nullable=False),
        sa.Column("dst", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["dst"], ["resource.id"], name=op.f("fk_edge_dst"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["src"], ["resource.id"], name=op.f("fk_edge_src"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("src", "dst", name=op.f("pk_edge")),
    )
    op.create_index(op.f("ix_edge_dst"), "edge", ["dst"], unique=False)
    op.create_index(op.f("ix_edge_stack_id"), "edge", ["stack_id"], unique=False)
    op.create_table(
        "resource_data",
        sa.Column("resource_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("redact", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["resource_id"],
            ["resource.id"],
            name=op.f("fk_resource_data_resource_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("resource_id", "name", name=op.f("pk_resource_data")),
    )
    op.create_table(
        "drift_check",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_drift_check")),
    )
    op.create_index(op.f("ix_drift_check_stack_id"), "drift_check", ["stack_id"], unique=False)
    op.create_index(
        "uq_drift_check_running",
        "drift_check",
        ["stack_id"],
        unique=True,
        sqlite_where=sa.text("status = 'RUNNING'"),
        postgresql_where=sa.text("status = 'RUNNING'"),
    )
    op.create_table(
        "drift_finding",
        sa.Column("check_id", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("diff", sa.Text(), nullable=False),
        sa.Column("ignored", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["check_id"],
            ["drift_check.id"],
            name=op.f("fk_drift_finding_check_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("check_id", "resource_id", name=op.f("pk_drift_finding")),
    )
    op.create_table(
        "drift_state",
        sa.Column("resource_id", sa.Text(), nullable=False),
        sa.Column("check_id", sa.Text(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("unseen", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["resource_id"],
            ["resource.id"],
            name=op.f("fk_drift_state_resource_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("pk_drift_state")),
    )
    op.create_table(
        "drift_ignore",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("stack_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("property", sa.Text(), nullable=False),
        sa.Column("until", sa.Float(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stack_id"],
            ["stack.id"],
            name=op.f("fk_drift_ignore_stack_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_drift_ignore")),
    )
    op.create_index("ix_drift_ignore_stack", "drift_ignore", ["stack_id"], unique=False)
