"""Made by ``compile.py`` from ``tables.py`` and ``statements.py``: do not edit."""

# ruff: noqa: E501
# fmt: off

SCHEMA: tuple[str, ...] = (
    'CREATE TABLE action (id TEXT NOT NULL, stack_id TEXT NOT NULL, generation INTEGER NOT NULL, action TEXT NOT NULL, detail TEXT NOT NULL, "by" TEXT NOT NULL, started_at FLOAT NOT NULL, ended_at FLOAT, status TEXT NOT NULL, status_reason TEXT NOT NULL, template_id TEXT, template_hash TEXT NOT NULL, environment_hash TEXT NOT NULL, CONSTRAINT pk_action PRIMARY KEY (id))',
    'CREATE INDEX ix_action_ended_at ON action (ended_at)',
    'CREATE INDEX ix_action_stack ON action (stack_id, generation)',
    'CREATE TABLE drift_check (id TEXT NOT NULL, stack_id TEXT NOT NULL, generation INTEGER NOT NULL, cause TEXT NOT NULL, "by" TEXT NOT NULL, scope TEXT NOT NULL, owner TEXT NOT NULL, started_at FLOAT NOT NULL, ended_at FLOAT, status TEXT NOT NULL, reason TEXT NOT NULL, verdict TEXT NOT NULL, counts TEXT NOT NULL, CONSTRAINT pk_drift_check PRIMARY KEY (id))',
    'CREATE INDEX ix_drift_check_ended_at ON drift_check (ended_at)',
    'CREATE INDEX ix_drift_check_stack_id ON drift_check (stack_id)',
    "CREATE UNIQUE INDEX uq_drift_check_running ON drift_check (stack_id) WHERE status = 'RUNNING'",
    'CREATE TABLE event (seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, stack_id TEXT NOT NULL, stack_name TEXT NOT NULL, generation INTEGER NOT NULL, resource_id TEXT, resource_name TEXT NOT NULL, resource_type TEXT NOT NULL, physical_id TEXT, action TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, at FLOAT NOT NULL)',
    'CREATE INDEX ix_event_stack_id ON event (stack_id)',
    'CREATE TABLE event_properties (event_id TEXT NOT NULL, properties TEXT NOT NULL, hidden TEXT NOT NULL, at FLOAT NOT NULL, CONSTRAINT pk_event_properties PRIMARY KEY (event_id))',
    'CREATE INDEX ix_event_properties_at ON event_properties (at)',
    'CREATE TABLE failed (id TEXT NOT NULL, stack_id TEXT NOT NULL, generation INTEGER NOT NULL, resource_id TEXT NOT NULL, resource_name TEXT NOT NULL, resource_type TEXT NOT NULL, physical_id TEXT, op TEXT NOT NULL, op_id TEXT, template_id TEXT, properties TEXT, hidden TEXT NOT NULL, attempt INTEGER NOT NULL, started_at FLOAT, at FLOAT NOT NULL, during TEXT NOT NULL, kind TEXT NOT NULL, code TEXT NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL, trace TEXT, CONSTRAINT pk_failed PRIMARY KEY (id))',
    'CREATE INDEX ix_failed_at ON failed (at)',
    'CREATE INDEX ix_failed_stack ON failed (stack_id, generation)',
    'CREATE TABLE member (id TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, version TEXT NOT NULL, plugins TEXT NOT NULL, url TEXT NOT NULL, started_at FLOAT NOT NULL, draining INTEGER NOT NULL, expires_at FLOAT NOT NULL, listens INTEGER NOT NULL, CONSTRAINT pk_member PRIMARY KEY (id))',
    'CREATE TABLE meta (name TEXT NOT NULL, value TEXT NOT NULL, CONSTRAINT pk_meta PRIMARY KEY (name))',
    'CREATE TABLE page_state (id TEXT NOT NULL, kind TEXT NOT NULL, project TEXT NOT NULL, user_id TEXT NOT NULL, body TEXT NOT NULL, ends_at FLOAT NOT NULL, CONSTRAINT pk_page_state PRIMARY KEY (id))',
    'CREATE INDEX ix_page_state_ends_at ON page_state (kind, ends_at)',
    'CREATE TABLE request (id TEXT NOT NULL, action TEXT NOT NULL, created_at FLOAT NOT NULL, answer TEXT, answered_at FLOAT, root_id TEXT NOT NULL, CONSTRAINT pk_request PRIMARY KEY (id))',
    'CREATE INDEX ix_request_answered_at ON request (answered_at)',
    'CREATE INDEX ix_request_open ON request (root_id) WHERE answered_at IS NULL',
    'CREATE TABLE sink (name TEXT NOT NULL, seq INTEGER NOT NULL, delivered INTEGER NOT NULL, delivered_at FLOAT, failures INTEGER NOT NULL, failing_since FLOAT, error TEXT NOT NULL, next_at FLOAT, CONSTRAINT pk_sink PRIMARY KEY (name))',
    'CREATE TABLE snapshot (id TEXT NOT NULL, stack_id TEXT NOT NULL, name TEXT NOT NULL, generation INTEGER NOT NULL, action TEXT NOT NULL, status TEXT NOT NULL, status_reason TEXT NOT NULL, template_id TEXT, data TEXT, created_at FLOAT NOT NULL, CONSTRAINT pk_snapshot PRIMARY KEY (id))',
    'CREATE INDEX ix_snapshot_stack_id ON snapshot (stack_id)',
    'CREATE TABLE software_config (id TEXT NOT NULL, project TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, created_at FLOAT NOT NULL, CONSTRAINT pk_software_config PRIMARY KEY (id))',
    'CREATE INDEX ix_software_config_project ON software_config (project, created_at, id)',
    'CREATE TABLE software_deployment (id TEXT NOT NULL, project TEXT NOT NULL, server_id TEXT NOT NULL, config_id TEXT NOT NULL, body TEXT NOT NULL, action TEXT NOT NULL, status TEXT NOT NULL, status_reason TEXT NOT NULL, created_at FLOAT NOT NULL, updated_at FLOAT, CONSTRAINT pk_software_deployment PRIMARY KEY (id))',
    'CREATE INDEX ix_software_deployment_config ON software_deployment (config_id)',
    'CREATE INDEX ix_software_deployment_project ON software_deployment (project, server_id, created_at)',
    'CREATE TABLE stack (id TEXT NOT NULL, project TEXT NOT NULL, name TEXT NOT NULL, owner_resource_id TEXT, root_id TEXT NOT NULL, generation INTEGER NOT NULL, phase TEXT NOT NULL, remaining INTEGER NOT NULL, halted INTEGER NOT NULL, failures TEXT NOT NULL, next_action TEXT NOT NULL, note TEXT NOT NULL, action TEXT NOT NULL, status TEXT NOT NULL, status_reason TEXT NOT NULL, template_id TEXT, good_template_id TEXT, good_parts TEXT NOT NULL, outside TEXT NOT NULL, disable_rollback INTEGER NOT NULL, timeout_mins INTEGER NOT NULL, deadline FLOAT, description TEXT NOT NULL, tags TEXT NOT NULL, suspended INTEGER NOT NULL, "before" TEXT NOT NULL, policies TEXT NOT NULL, protect INTEGER NOT NULL, drift_policy TEXT NOT NULL, drift_schedule TEXT NOT NULL, drift_next FLOAT, drift_by TEXT NOT NULL, drift_said TEXT NOT NULL, created_at FLOAT NOT NULL, updated_at FLOAT, deleted_at FLOAT, created_by TEXT NOT NULL, CONSTRAINT pk_stack PRIMARY KEY (id))',
    "CREATE INDEX ix_stack_busy ON stack (deadline) WHERE phase != 'IDLE'",
    'CREATE INDEX ix_stack_drift_next ON stack (drift_next)',
    'CREATE INDEX ix_stack_gone_name ON stack (project, name, deleted_at) WHERE deleted_at IS NOT NULL',
    "CREATE INDEX ix_stack_next ON stack (next_action) WHERE next_action != ''",
    'CREATE INDEX ix_stack_owner_resource_id ON stack (owner_resource_id)',
    'CREATE INDEX ix_stack_project ON stack (project, created_at, id)',
    'CREATE INDEX ix_stack_root_id ON stack (root_id)',
    'CREATE UNIQUE INDEX uq_stack_live_name ON stack (project, name) WHERE deleted_at IS NULL',
    'CREATE TABLE template (id TEXT NOT NULL, stack_id TEXT NOT NULL, body TEXT NOT NULL, created_at FLOAT NOT NULL, base_id TEXT, checked TEXT NOT NULL, CONSTRAINT pk_template PRIMARY KEY (id))',
    'CREATE INDEX ix_template_base_id ON template (base_id)',
    'CREATE TABLE drift_finding (check_id TEXT NOT NULL, resource_id TEXT NOT NULL, stack_id TEXT NOT NULL, path TEXT NOT NULL, type TEXT NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, diff TEXT NOT NULL, ignored TEXT NOT NULL, CONSTRAINT pk_drift_finding PRIMARY KEY (check_id, resource_id), CONSTRAINT fk_drift_finding_check_id FOREIGN KEY(check_id) REFERENCES drift_check (id) ON DELETE CASCADE)',
    'CREATE TABLE drift_ignore (id TEXT NOT NULL, stack_id TEXT NOT NULL, path TEXT NOT NULL, property TEXT NOT NULL, until FLOAT, reason TEXT NOT NULL, "by" TEXT NOT NULL, at FLOAT NOT NULL, CONSTRAINT pk_drift_ignore PRIMARY KEY (id), CONSTRAINT fk_drift_ignore_stack_id FOREIGN KEY(stack_id) REFERENCES stack (id) ON DELETE CASCADE)',
    'CREATE INDEX ix_drift_ignore_stack ON drift_ignore (stack_id)',
    'CREATE TABLE duty ("key" TEXT NOT NULL, member TEXT, since FLOAT NOT NULL, not_before FLOAT NOT NULL, takeovers INTEGER NOT NULL, CONSTRAINT pk_duty PRIMARY KEY ("key"), CONSTRAINT fk_duty_member FOREIGN KEY(member) REFERENCES member (id) ON DELETE SET NULL)',
    'CREATE INDEX ix_duty_free ON duty (not_before) WHERE member IS NULL',
    'CREATE INDEX ix_duty_member ON duty (member)',
    'CREATE TABLE resource (id TEXT NOT NULL, stack_id TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, class_type TEXT NOT NULL, replaces_id TEXT, cause TEXT NOT NULL, generation INTEGER NOT NULL, want TEXT NOT NULL, verb TEXT NOT NULL, want_hash TEXT NOT NULL, want_template_id TEXT, requires TEXT NOT NULL, waiting INTEGER NOT NULL, dirty INTEGER NOT NULL, open INTEGER NOT NULL, ceiling TEXT NOT NULL, action TEXT NOT NULL, status TEXT NOT NULL, status_reason TEXT NOT NULL, have_hash TEXT NOT NULL, resolved_hash TEXT NOT NULL, have_template_id TEXT, definition TEXT, properties TEXT, hidden TEXT NOT NULL, deletion_policy TEXT NOT NULL, external_id TEXT, physical_id TEXT, reference TEXT, outputs TEXT, outputs_hash TEXT NOT NULL, below INTEGER NOT NULL, below_seen INTEGER NOT NULL, meta TEXT NOT NULL, suspended INTEGER NOT NULL, given TEXT, op TEXT NOT NULL, op_id TEXT, op_gen INTEGER NOT NULL, op_hash TEXT NOT NULL, op_template_id TEXT, op_definition TEXT, op_properties TEXT, op_resolved TEXT NOT NULL, op_state TEXT NOT NULL, token TEXT, is_volatile INTEGER NOT NULL, attempt INTEGER NOT NULL, failed_attempts INTEGER NOT NULL, most_attempts INTEGER NOT NULL, retry_delay FLOAT NOT NULL, retry_at FLOAT, started_at FLOAT, deadline FLOAT, promised_deadline FLOAT, protect INTEGER NOT NULL, hook TEXT NOT NULL, hook_until FLOAT, fence INTEGER NOT NULL, take_overs INTEGER NOT NULL, owner TEXT NOT NULL, created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL, CONSTRAINT pk_resource PRIMARY KEY (id), CONSTRAINT fk_resource_stack_id FOREIGN KEY(stack_id) REFERENCES stack (id) ON DELETE CASCADE, CONSTRAINT uq_resource_op_id UNIQUE (op_id))',
    'CREATE INDEX ix_resource_behind ON resource (below) WHERE below != below_seen',
    'CREATE INDEX ix_resource_hook_until ON resource (hook_until) WHERE hook_until IS NOT NULL',
    'CREATE INDEX ix_resource_physical_id ON resource (physical_id) WHERE physical_id IS NOT NULL',
    'CREATE INDEX ix_resource_protected ON resource (protect) WHERE protect = 1',
    "CREATE INDEX ix_resource_running ON resource (deadline) WHERE op != ''",
    'CREATE INDEX ix_resource_stack ON resource (stack_id, open)',
    'CREATE TABLE drift_state (resource_id TEXT NOT NULL, check_id TEXT NOT NULL, fence INTEGER NOT NULL, verdict TEXT NOT NULL, unseen TEXT NOT NULL, CONSTRAINT pk_drift_state PRIMARY KEY (resource_id), CONSTRAINT fk_drift_state_resource_id FOREIGN KEY(resource_id) REFERENCES resource (id) ON DELETE CASCADE)',
    'CREATE TABLE edge (src TEXT NOT NULL, dst TEXT NOT NULL, stack_id TEXT NOT NULL, CONSTRAINT pk_edge PRIMARY KEY (src, dst), CONSTRAINT fk_edge_src FOREIGN KEY(src) REFERENCES resource (id) ON DELETE CASCADE, CONSTRAINT fk_edge_dst FOREIGN KEY(dst) REFERENCES resource (id) ON DELETE CASCADE)',
    'CREATE INDEX ix_edge_dst ON edge (dst)',
    'CREATE INDEX ix_edge_stack_id ON edge (stack_id)',
    'CREATE TABLE resource_data (resource_id TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, redact INTEGER NOT NULL, CONSTRAINT pk_resource_data PRIMARY KEY (resource_id, name), CONSTRAINT fk_resource_data_resource_id FOREIGN KEY(resource_id) REFERENCES resource (id) ON DELETE CASCADE)',
)

SQL: dict[str, str] = {
    # (37 columns)
    'insert_stack': 'INSERT INTO stack (id, project, name, owner_resource_id, root_id, generation, phase, remaining, halted, failures, next_action, note, action, status, status_reason, template_id, good_template_id, good_parts, outside, disable_rollback, timeout_mins, deadline, description, tags, suspended, "before", policies, protect, drift_policy, drift_schedule, drift_next, drift_by, drift_said, created_at, updated_at, deleted_at, created_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    # (36 columns)
    'update_stack': 'UPDATE stack SET project=?, name=?, owner_resource_id=?, root_id=?, generation=?, phase=?, remaining=?, halted=?, failures=?, next_action=?, note=?, action=?, status=?, status_reason=?, template_id=?, good_template_id=?, good_parts=?, outside=?, disable_rollback=?, timeout_mins=?, deadline=?, description=?, tags=?, suspended=?, "before"=?, policies=?, protect=?, drift_policy=?, drift_schedule=?, drift_next=?, drift_by=?, drift_said=?, updated_at=?, deleted_at=?, created_by=? WHERE stack.id = ?',
    # (id)
    'stack_by_id': 'SELECT stack.id, stack.project, stack.name, stack.owner_resource_id, stack.root_id, stack.generation, stack.phase, stack.remaining, stack.halted, stack.failures, stack.next_action, stack.note, stack.action, stack.status, stack.status_reason, stack.template_id, stack.good_template_id, stack.good_parts, stack.outside, stack.disable_rollback, stack.timeout_mins, stack.deadline, stack.description, stack.tags, stack.suspended, stack."before", stack.policies, stack.protect, stack.drift_policy, stack.drift_schedule, stack.drift_next, stack.drift_by, stack.drift_said, stack.created_at, stack.updated_at, stack.deleted_at, stack.created_by FROM stack WHERE stack.id = ?',
    # (project, name)
    'stack_by_name': 'SELECT stack.id, stack.project, stack.name, stack.owner_resource_id, stack.root_id, stack.generation, stack.phase, stack.remaining, stack.halted, stack.failures, stack.next_action, stack.note, stack.action, stack.status, stack.status_reason, stack.template_id, stack.good_template_id, stack.good_parts, stack.outside, stack.disable_rollback, stack.timeout_mins, stack.deadline, stack.description, stack.tags, stack.suspended, stack."before", stack.policies, stack.protect, stack.drift_policy, stack.drift_schedule, stack.drift_next, stack.drift_by, stack.drift_said, stack.created_at, stack.updated_at, stack.deleted_at, stack.created_by FROM stack WHERE stack.project = ? AND stack.name = ? AND stack.deleted_at IS NULL',
    # (project, name)
    'stack_deleted_by_name': 'SELECT stack.id, stack.project, stack.name, stack.owner_resource_id, stack.root_id, stack.generation, stack.phase, stack.remaining, stack.halted, stack.failures, stack.next_action, stack.note, stack.action, stack.status, stack.status_reason, stack.template_id, stack.good_template_id, stack.good_parts, stack.outside, stack.disable_rollback, stack.timeout_mins, stack.deadline, stack.description, stack.tags, stack.suspended, stack."before", stack.policies, stack.protect, stack.drift_policy, stack.drift_schedule, stack.drift_next, stack.drift_by, stack.drift_said, stack.created_at, stack.updated_at, stack.deleted_at, stack.created_by FROM stack WHERE stack.project = ? AND stack.name = ? AND stack.deleted_at IS NOT NULL ORDER BY stack.deleted_at DESC, stack.id DESC',
    # (project)
    'stack_names': 'SELECT stack.name FROM stack WHERE stack.project = ? AND stack.deleted_at IS NULL AND stack.owner_resource_id IS NULL ORDER BY stack.name',
    # (project, name)
    'stack_id_named': 'SELECT stack.id FROM stack WHERE stack.project = ? AND stack.name = ? AND stack.deleted_at IS NULL',
    # (stack_id)
    'resource_names': "SELECT resource.name, child.id FROM resource LEFT OUTER JOIN stack AS child ON child.owner_resource_id = resource.id AND child.deleted_at IS NULL WHERE resource.stack_id = ? AND resource.want != 'ABSENT' ORDER BY resource.name",
    # (owner)
    'child_of': 'SELECT stack.id, stack.project, stack.name, stack.owner_resource_id, stack.root_id, stack.generation, stack.phase, stack.remaining, stack.halted, stack.failures, stack.next_action, stack.note, stack.action, stack.status, stack.status_reason, stack.template_id, stack.good_template_id, stack.good_parts, stack.outside, stack.disable_rollback, stack.timeout_mins, stack.deadline, stack.description, stack.tags, stack.suspended, stack."before", stack.policies, stack.protect, stack.drift_policy, stack.drift_schedule, stack.drift_next, stack.drift_by, stack.drift_said, stack.created_at, stack.updated_at, stack.deleted_at, stack.created_by FROM stack WHERE stack.owner_resource_id = ? AND stack.deleted_at IS NULL',
    # (root)
    'stacks_of_root': 'SELECT stack.id, stack.project, stack.name, stack.owner_resource_id, stack.root_id, stack.generation, stack.phase, stack.remaining, stack.halted, stack.failures, stack.next_action, stack.note, stack.action, stack.status, stack.status_reason, stack.template_id, stack.good_template_id, stack.good_parts, stack.outside, stack.disable_rollback, stack.timeout_mins, stack.deadline, stack.description, stack.tags, stack.suspended, stack."before", stack.policies, stack.protect, stack.drift_policy, stack.drift_schedule, stack.drift_next, stack.drift_by, stack.drift_said, stack.created_at, stack.updated_at, stack.deleted_at, stack.created_by FROM stack WHERE stack.root_id = ? AND stack.deleted_at IS NULL ORDER BY stack.created_at, stack.id',
    # (root)
    'tree_busy': "SELECT 1 WHERE EXISTS (SELECT * FROM stack WHERE stack.root_id = ? AND (stack.phase != 'IDLE' OR (EXISTS (SELECT * FROM resource WHERE resource.stack_id = stack.id AND resource.op != ''))))",
    # (root)
    'names_of_root': 'SELECT stack.id, stack.name, stack.owner_resource_id FROM stack WHERE stack.root_id = ? ORDER BY stack.created_at, stack.id',
    # (root)
    'owners_of_root': 'SELECT stack.id, resource.id AS id_1, resource.stack_id, resource.name FROM stack, resource WHERE stack.root_id = ? AND stack.owner_resource_id = resource.id AND stack.deleted_at IS NULL',
    # ()
    'owners_live': 'SELECT stack.id, resource.id AS id_1, resource.stack_id, resource.name FROM stack, resource WHERE stack.owner_resource_id = resource.id AND stack.deleted_at IS NULL',
    # ()
    'stacks_live': 'SELECT stack.id, stack.project, stack.name, stack.owner_resource_id, stack.root_id, stack.generation, stack.phase, stack.remaining, stack.halted, stack.failures, stack.next_action, stack.note, stack.action, stack.status, stack.status_reason, stack.template_id, stack.good_template_id, stack.good_parts, stack.outside, stack.disable_rollback, stack.timeout_mins, stack.deadline, stack.description, stack.tags, stack.suspended, stack."before", stack.policies, stack.protect, stack.drift_policy, stack.drift_schedule, stack.drift_next, stack.drift_by, stack.drift_said, stack.created_at, stack.updated_at, stack.deleted_at, stack.created_by FROM stack WHERE stack.deleted_at IS NULL ORDER BY stack.created_at, stack.id',
    # ()
    'stacks_pending': "SELECT stack.id, stack.root_id FROM stack WHERE stack.next_action != ''",
    # (now)
    'stacks_overdue': "SELECT stack.id, stack.root_id FROM stack WHERE stack.phase != 'IDLE' AND stack.deadline < ?",
    # (before)
    'delete_old_stacks': 'DELETE FROM stack WHERE stack.deleted_at < ? AND (stack.id NOT IN (SELECT template.stack_id FROM template))',
    # (id, stack_id, body, created_at, base_id, checked)
    'insert_template': 'INSERT INTO template (id, stack_id, body, created_at, base_id, checked) VALUES (?, ?, ?, ?, ?, ?)',
    # (id)
    'template_by_id': 'SELECT template.id, template.stack_id, template.body, template.created_at, template.base_id FROM template WHERE template.id = ?',
    # (id)
    'template_checked': 'SELECT template.checked FROM template WHERE template.id = ?',
    # (gone, gone, before, gone)
    'delete_unused_templates': "DELETE FROM template WHERE (template.id NOT IN (SELECT stack.template_id FROM stack WHERE stack.template_id IS NOT NULL AND (stack.deleted_at IS NULL OR stack.deleted_at >= ?) UNION SELECT stack.good_template_id FROM stack WHERE stack.good_template_id IS NOT NULL AND (stack.deleted_at IS NULL OR stack.deleted_at >= ?) UNION SELECT resource.want_template_id FROM resource WHERE resource.want_template_id IS NOT NULL UNION SELECT resource.have_template_id FROM resource WHERE resource.have_template_id IS NOT NULL UNION SELECT resource.op_template_id FROM resource WHERE resource.op_template_id IS NOT NULL UNION SELECT action.template_id FROM action WHERE action.template_id IS NOT NULL UNION SELECT snapshot.template_id FROM snapshot WHERE snapshot.template_id IS NOT NULL UNION SELECT built_on.base_id FROM template AS built_on WHERE built_on.base_id IS NOT NULL)) AND template.created_at < ? AND NOT (EXISTS (SELECT * FROM stack WHERE stack.id = template.stack_id AND (stack.deleted_at IS NULL OR stack.deleted_at >= ?) AND (stack.good_parts LIKE '%' || template.id || '%')))",
    # (64 columns)
    'insert_resource': 'INSERT INTO resource (id, stack_id, name, type, class_type, replaces_id, cause, generation, want, verb, want_hash, want_template_id, requires, waiting, dirty, open, ceiling, action, status, status_reason, have_hash, resolved_hash, have_template_id, definition, properties, hidden, deletion_policy, external_id, physical_id, reference, outputs, outputs_hash, below, below_seen, meta, suspended, given, op, op_id, op_gen, op_hash, op_template_id, op_definition, op_properties, op_resolved, op_state, token, is_volatile, attempt, failed_attempts, most_attempts, retry_delay, retry_at, started_at, deadline, promised_deadline, protect, hook, hook_until, fence, take_overs, owner, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    # (63 columns)
    'update_resource': 'UPDATE resource SET name=?, type=?, class_type=?, replaces_id=?, cause=?, generation=?, want=?, verb=?, want_hash=?, want_template_id=?, requires=?, waiting=?, dirty=?, open=?, ceiling=?, action=?, status=?, status_reason=?, have_hash=?, resolved_hash=?, have_template_id=?, definition=?, properties=?, hidden=?, deletion_policy=?, external_id=?, physical_id=?, reference=?, outputs=?, outputs_hash=?, below=?, below_seen=?, meta=?, suspended=?, given=?, op=?, op_id=?, op_gen=?, op_hash=?, op_template_id=?, op_definition=?, op_properties=?, op_resolved=?, op_state=?, token=?, is_volatile=?, attempt=?, failed_attempts=?, most_attempts=?, retry_delay=?, retry_at=?, started_at=?, deadline=?, promised_deadline=?, protect=?, hook=?, hook_until=?, fence=?, take_overs=?, owner=?, updated_at=? WHERE resource.id = ? AND resource.fence = ?',
    # (id, fence)
    'delete_resource': 'DELETE FROM resource WHERE resource.id = ? AND resource.fence = ?',
    # (id)
    'resource_by_id': 'SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at FROM resource WHERE resource.id = ?',
    # (ids)
    'resources_by_id': 'SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at FROM resource WHERE resource.id IN (SELECT value FROM json_each(?))',
    # (ids)
    'resources_with_ids': 'SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.physical_id, resource.given, stack.name AS name_1 FROM resource, stack WHERE resource.stack_id = stack.id AND resource.physical_id IN (SELECT value FROM json_each(?)) AND resource.external_id IS NULL ORDER BY resource.id',
    # (physical_id)
    'resources_with_id': 'SELECT resource.id, resource.type, resource.class_type, resource.given FROM resource WHERE resource.physical_id = ? AND resource.external_id IS NULL ORDER BY resource.id',
    # (root)
    'protected_of_tree': 'SELECT resource.id FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ? AND resource.protect = 1 ORDER BY resource.id',
    # (stack_id)
    'resources_of_stack': 'SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at FROM resource WHERE resource.stack_id = ? ORDER BY resource.id',
    # (root)
    'resources_of_root': 'SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ? AND stack.deleted_at IS NULL',
    # (root, id, physical_id, reference)
    'referred_in_tree': "SELECT resource.id, resource.physical_id, resource.reference FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ? AND stack.deleted_at IS NULL AND resource.want != 'ABSENT' AND (resource.id = ? OR resource.physical_id = ? OR resource.reference = ? OR substr(resource.reference, 1, 7) = 'sealed:') ORDER BY stack.created_at, stack.id, resource.id",
    # (root)
    'size_of_root': 'SELECT count(*) AS count_1 FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ?',
    # (root)
    'wanted_of_root': "SELECT count(*) AS count_1 FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ? AND resource.want != 'ABSENT'",
    # (project)
    'stacks_of_project': 'SELECT count(*) AS count_1 FROM stack WHERE stack.project = ? AND stack.deleted_at IS NULL AND stack.owner_resource_id IS NULL',
    # (project)
    'actions_of_project': "SELECT count(*) AS count_1 FROM stack WHERE stack.project = ? AND stack.deleted_at IS NULL AND stack.owner_resource_id IS NULL AND stack.phase != 'IDLE'",
    # (project)
    'resources_of_project': "SELECT count(*) AS count_1 FROM resource, stack WHERE resource.stack_id = stack.id AND stack.project = ? AND stack.deleted_at IS NULL AND resource.want != 'ABSENT'",
    # (project)
    'snapshots_of_project': 'SELECT count(*) AS count_1 FROM snapshot, stack WHERE snapshot.stack_id = stack.id AND stack.project = ? AND stack.deleted_at IS NULL',
    # (stack_id, name)
    'resources_named': 'SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at FROM resource WHERE resource.stack_id = ? AND resource.name = ? ORDER BY resource.id',
    # (id)
    'required_by': 'SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at FROM resource JOIN edge ON edge.dst = resource.id WHERE edge.src = ? ORDER BY resource.id',
    # (stack_id)
    'plan_rows': 'SELECT resource.id, resource.name, resource.want, resource.want_hash, resource.action, resource.status, resource.have_hash, resource.have_template_id, resource.physical_id, resource.op, resource.dirty, resource.replaces_id FROM resource WHERE resource.stack_id = ? ORDER BY resource.id',
    # (root, root)
    'tree_facts': 'SELECT stack.id, stack.generation, stack.phase, stack.action, stack.status, stack.protect, stack.suspended, stack.note FROM stack WHERE stack.root_id = ? AND stack.deleted_at IS NULL UNION ALL SELECT resource.id, resource.fence, resource.want, resource.action, resource.status, resource.protect, resource.dirty, resource.outputs_hash FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ? AND stack.deleted_at IS NULL',
    # (root)
    'promised_of_tree': "SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ? AND resource.given LIKE '%promised:%' ORDER BY resource.id",
    # (home, key)
    'rehome_resource': 'UPDATE resource SET stack_id=? WHERE resource.id = ?',
    # (stack_id)
    'running_ids': "SELECT resource.id FROM resource WHERE resource.stack_id = ? AND resource.op != '' ORDER BY resource.id",
    # (stack_id)
    'absent_ids': "SELECT resource.id FROM resource WHERE resource.stack_id = ? AND resource.want = 'ABSENT' ORDER BY resource.id",
    # ()
    'runnable': "SELECT resource.id, stack.root_id FROM resource, stack WHERE resource.stack_id = stack.id AND resource.op != '' UNION SELECT resource.id, stack.root_id FROM resource, stack WHERE resource.stack_id = stack.id AND resource.stack_id IN (SELECT there.id FROM stack AS there WHERE there.deleted_at IS NULL) AND resource.open = 1 AND resource.waiting = 0",
    # (root)
    'runnable_of_tree': "SELECT resource.id, stack.root_id FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ? AND (resource.op != '' OR resource.open = 1 AND resource.waiting = 0) ORDER BY resource.id",
    # (root)
    'signalled_of_tree': "SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at FROM resource WHERE resource.op != '' AND resource.op = 'SIGNAL' AND (EXISTS (SELECT * FROM stack WHERE stack.id = resource.stack_id AND stack.root_id = ?))",
    # ()
    'behind': "SELECT resource.id, stack.root_id FROM resource, stack WHERE resource.stack_id = stack.id AND resource.below != resource.below_seen AND resource.outputs_hash != ''",
    # (now)
    'paused_too_long': 'SELECT resource.id, (SELECT stack.root_id FROM stack WHERE stack.id = resource.stack_id) AS anon_1 FROM resource WHERE resource.hook_until < ?',
    # (stack_id)
    'paused_ids': "SELECT resource.id FROM resource WHERE resource.stack_id = ? AND resource.hook != '' ORDER BY resource.id",
    # (now)
    'begun_after': "SELECT resource.id, (SELECT stack.root_id FROM stack WHERE stack.id = resource.stack_id) AS anon_1 FROM resource WHERE resource.op != '' AND resource.started_at > ?",
    # (now)
    'overdue': "SELECT resource.id, (SELECT stack.root_id FROM stack WHERE stack.id = resource.stack_id) AS anon_1 FROM resource WHERE resource.op != '' AND resource.deadline < ?",
    # (stack_id)
    'open_ids': 'SELECT resource.id FROM resource WHERE resource.stack_id = ? AND resource.open != 0',
    # (stack_id)
    'close_idle': "UPDATE resource SET open=0 WHERE resource.stack_id = ? AND resource.open = 1 AND resource.op = ''",
    # (stack_id)
    'close_all': 'UPDATE resource SET open=0 WHERE resource.stack_id = ? AND resource.open != 0',
    # (src, dst, stack_id)
    'insert_edge': 'INSERT INTO edge (src, dst, stack_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    # (stack_id)
    'edges_of_stack': 'SELECT edge.src, edge.dst FROM edge WHERE edge.stack_id = ?',
    # (src, dst)
    'delete_edge': 'DELETE FROM edge WHERE edge.src = ? AND edge.dst = ?',
    # (resource_id)
    'data_of': 'SELECT resource_data.name, resource_data.value, resource_data.redact FROM resource_data WHERE resource_data.resource_id = ?',
    # (ids)
    'data_of_several': 'SELECT resource_data.resource_id, resource_data.name, resource_data.value, resource_data.redact FROM resource_data WHERE resource_data.resource_id IN (SELECT value FROM json_each(?))',
    # (resource_id, name, value, redact)
    'put_data': 'INSERT INTO resource_data (resource_id, name, value, redact) VALUES (?, ?, ?, ?) ON CONFLICT (resource_id, name) DO UPDATE SET value = excluded.value, redact = excluded.redact',
    # (resource_id, name)
    'drop_data': 'DELETE FROM resource_data WHERE resource_data.resource_id = ? AND resource_data.name = ?',
    # (12 columns)
    'insert_event': 'INSERT INTO event (id, stack_id, stack_name, generation, resource_id, resource_name, resource_type, physical_id, action, status, reason, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    # (stack_id, after, limit, offset)
    'events_of_stack': 'SELECT event.seq, event.id, event.stack_id, event.stack_name, event.generation, event.resource_id, event.resource_name, event.resource_type, event.physical_id, event.action, event.status, event.reason, event.at FROM event WHERE event.stack_id = ? AND event.seq > ? ORDER BY event.seq LIMIT ? OFFSET ?',
    # (root, after, limit, offset)
    'events_of_root': 'SELECT event.seq, event.id, event.stack_id, event.stack_name, event.generation, event.resource_id, event.resource_name, event.resource_type, event.physical_id, event.action, event.status, event.reason, event.at FROM event WHERE event.stack_id IN (SELECT stack.id FROM stack WHERE stack.root_id = ?) AND event.seq > ? ORDER BY event.seq LIMIT ? OFFSET ?',
    # (stack_id)
    'events_counted': "SELECT event.generation, event.action, event.status, count(*) AS count_1 FROM event WHERE event.stack_id = ? AND event.resource_name != '' GROUP BY event.generation, event.action, event.status",
    # ()
    'stacks_counted': 'SELECT stack.action, stack.status, count(*) AS count_1 FROM stack WHERE stack.deleted_at IS NULL GROUP BY stack.action, stack.status',
    # (after, limit, offset)
    'events_after': 'SELECT event.seq, event.id, event.stack_id, event.stack_name, event.generation, event.resource_id, event.resource_name, event.resource_type, event.physical_id, event.action, event.status, event.reason, event.at FROM event WHERE event.seq > ? ORDER BY event.seq LIMIT ? OFFSET ?',
    # ()
    'last_event': 'SELECT max(event.seq) AS max_1 FROM event',
    # (event_id, properties, hidden, at)
    'insert_event_properties': 'INSERT INTO event_properties (event_id, properties, hidden, at) VALUES (?, ?, ?, ?)',
    # (before)
    'delete_old_event_properties': 'DELETE FROM event_properties WHERE event_properties.at < ?',
    # (before)
    'delete_old_events': 'DELETE FROM event WHERE event.seq < coalesce((SELECT min(kept.seq) AS min_1 FROM event AS kept WHERE kept.at >= ?), 9223372036854775807)',
    # (13 columns)
    'insert_action': 'INSERT INTO action (id, stack_id, generation, action, detail, "by", started_at, ended_at, status, status_reason, template_id, template_hash, environment_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    # (at, new_status, reason, key)
    'end_action': 'UPDATE action SET ended_at=?, status=?, status_reason=? WHERE action.stack_id = ? AND action.ended_at IS NULL',
    # (text, key)
    'note_on_action': 'UPDATE action SET detail=? WHERE action.stack_id = ? AND action.ended_at IS NULL',
    # (stack_id)
    'actions_of_stack': 'SELECT action.id, action.stack_id, action.generation, action.action, action.detail, action."by", action.started_at, action.ended_at, action.status, action.status_reason, action.template_id, action.template_hash, action.environment_hash FROM action WHERE action.stack_id = ? ORDER BY action.generation, action.id',
    # (stack_id)
    'last_change': 'SELECT action.id, action.stack_id, action.generation, action.action, action.detail, action."by", action.started_at, action.ended_at, action.status, action.status_reason, action.template_id, action.template_hash, action.environment_hash FROM action WHERE action.stack_id = ? AND (action.action NOT IN (\'SUSPEND\', \'RESUME\', \'CHECK\', \'SNAPSHOT\', \'DELETE_SNAPSHOT\')) ORDER BY action.generation DESC, action.id DESC',
    # (stack_id)
    'last_action': 'SELECT action.id, action.stack_id, action.generation, action.action, action.detail, action."by", action.started_at, action.ended_at, action.status, action.status_reason, action.template_id, action.template_hash, action.environment_hash FROM action WHERE action.stack_id = ? ORDER BY action.generation DESC, action.id DESC',
    # (stack_id, template_id)
    'template_hashes': 'SELECT action.template_hash, action.environment_hash FROM action WHERE action.stack_id = ? AND action.template_id = ? ORDER BY action.generation DESC',
    # (before)
    'delete_old_actions': 'DELETE FROM action WHERE action.ended_at < ? AND NOT (EXISTS (SELECT * FROM stack WHERE stack.id = action.stack_id AND stack.deleted_at IS NULL AND stack.generation = action.generation))',
    # (21 columns)
    'insert_failed': 'INSERT INTO failed (id, stack_id, generation, resource_id, resource_name, resource_type, physical_id, op, op_id, template_id, properties, hidden, attempt, started_at, at, during, kind, code, path, reason, trace) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    # (stack_id)
    'failed_of_stack': 'SELECT failed.id, failed.stack_id, failed.generation, failed.resource_id, failed.resource_name, failed.resource_type, failed.physical_id, failed.op, failed.op_id, failed.template_id, failed.properties, failed.hidden, failed.attempt, failed.started_at, failed.at, failed.during, failed.kind, failed.code, failed.path, failed.reason, failed.trace FROM failed WHERE failed.stack_id = ? ORDER BY failed.at, failed.id',
    # (before)
    'delete_old_failed': 'DELETE FROM failed WHERE failed.at < ?',
    # (10 columns)
    'put_snapshot': 'INSERT INTO snapshot (id, stack_id, name, generation, action, status, status_reason, template_id, data, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET stack_id = excluded.stack_id, name = excluded.name, generation = excluded.generation, action = excluded.action, status = excluded.status, status_reason = excluded.status_reason, template_id = excluded.template_id, data = excluded.data, created_at = excluded.created_at',
    # (id)
    'delete_snapshot': 'DELETE FROM snapshot WHERE snapshot.id = ?',
    # (stack_id)
    'delete_snapshots_of_stack': 'DELETE FROM snapshot WHERE snapshot.stack_id = ?',
    # (stack_id)
    'snapshots_of_stack': 'SELECT snapshot.id, snapshot.stack_id, snapshot.name, snapshot.generation, snapshot.action, snapshot.status, snapshot.status_reason, snapshot.template_id, snapshot.data, snapshot.created_at FROM snapshot WHERE snapshot.stack_id = ? ORDER BY snapshot.id',
    # (id, project, name, kind, body, created_at)
    'insert_software_config': 'INSERT INTO software_config (id, project, name, kind, body, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    # (id, project)
    'software_config': 'SELECT software_config.id, software_config.project, software_config.name, software_config.kind, software_config.body, software_config.created_at FROM software_config WHERE software_config.id = ? AND software_config.project = ?',
    # (project, marker, limit, offset)
    'software_configs': 'SELECT software_config.id, software_config.project, software_config.name, software_config.kind, software_config.body, software_config.created_at FROM software_config WHERE software_config.project = ? AND software_config.id > ? ORDER BY software_config.id LIMIT ? OFFSET ?',
    # (id, project)
    'delete_software_config': 'DELETE FROM software_config WHERE software_config.id = ? AND software_config.project = ? AND NOT (EXISTS (SELECT * FROM software_deployment WHERE software_deployment.config_id = software_config.id))',
    # (name, project)
    'resource_data_named': "SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.replaces_id, resource.cause, resource.generation, resource.want, resource.verb, resource.want_hash, resource.want_template_id, resource.requires, resource.waiting, resource.dirty, resource.open, resource.ceiling, resource.action, resource.status, resource.status_reason, resource.have_hash, resource.resolved_hash, resource.have_template_id, resource.definition, resource.properties, resource.hidden, resource.deletion_policy, resource.external_id, resource.physical_id, resource.reference, resource.outputs, resource.outputs_hash, resource.below, resource.below_seen, resource.meta, resource.suspended, resource.given, resource.op, resource.op_id, resource.op_gen, resource.op_hash, resource.op_template_id, resource.op_definition, resource.op_properties, resource.op_resolved, resource.op_state, resource.token, resource.is_volatile, resource.attempt, resource.failed_attempts, resource.most_attempts, resource.retry_delay, resource.retry_at, resource.started_at, resource.deadline, resource.promised_deadline, resource.protect, resource.hook, resource.hook_until, resource.fence, resource.take_overs, resource.owner, resource.created_at, resource.updated_at, resource_data.value FROM resource, resource_data, stack WHERE resource_data.name = ? AND resource_data.resource_id = resource.id AND resource.want != 'ABSENT' AND resource.stack_id = stack.id AND stack.project = ? AND stack.deleted_at IS NULL ORDER BY resource.id",
    # (10 columns)
    'insert_software_deployment': 'INSERT INTO software_deployment (id, project, server_id, config_id, body, action, status, status_reason, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    # (id, project)
    'software_deployment': 'SELECT software_deployment.id, software_deployment.project, software_deployment.server_id, software_deployment.config_id, software_deployment.body, software_deployment.action, software_deployment.status, software_deployment.status_reason, software_deployment.created_at, software_deployment.updated_at FROM software_deployment WHERE software_deployment.id = ? AND software_deployment.project = ?',
    # (project)
    'software_deployments': 'SELECT software_deployment.id, software_deployment.project, software_deployment.server_id, software_deployment.config_id, software_deployment.body, software_deployment.action, software_deployment.status, software_deployment.status_reason, software_deployment.created_at, software_deployment.updated_at FROM software_deployment WHERE software_deployment.project = ? ORDER BY software_deployment.id',
    # (project, server_id)
    'software_deployments_of_server': 'SELECT software_deployment.id, software_deployment.project, software_deployment.server_id, software_deployment.config_id, software_deployment.body, software_deployment.action, software_deployment.status, software_deployment.status_reason, software_deployment.created_at, software_deployment.updated_at FROM software_deployment WHERE software_deployment.project = ? AND software_deployment.server_id = ? ORDER BY software_deployment.created_at, software_deployment.id',
    # (8 columns)
    'update_software_deployment': 'UPDATE software_deployment SET config_id=?, body=?, action=?, status=?, status_reason=?, updated_at=? WHERE software_deployment.id = ? AND software_deployment.project = ?',
    # (id, project)
    'delete_software_deployment': 'DELETE FROM software_deployment WHERE software_deployment.id = ? AND software_deployment.project = ?',
    # (13 columns)
    'insert_drift_check': 'INSERT INTO drift_check (id, stack_id, generation, cause, "by", scope, owner, started_at, ended_at, status, reason, verdict, counts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    # (at, new_status, new_reason, new_verdict, new_counts, key)
    'end_drift_check': "UPDATE drift_check SET ended_at=?, status=?, reason=?, verdict=?, counts=? WHERE drift_check.id = ? AND drift_check.status = 'RUNNING'",
    # (id)
    'drift_check_by_id': 'SELECT drift_check.id, drift_check.stack_id, drift_check.generation, drift_check.cause, drift_check."by", drift_check.scope, drift_check.owner, drift_check.started_at, drift_check.ended_at, drift_check.status, drift_check.reason, drift_check.verdict, drift_check.counts FROM drift_check WHERE drift_check.id = ?',
    # (stack_id, first, last, limit, offset)
    'drift_checks_from': 'SELECT drift_check.id, drift_check.stack_id, drift_check.generation, drift_check.cause, drift_check."by", drift_check.scope, drift_check.owner, drift_check.started_at, drift_check.ended_at, drift_check.status, drift_check.reason, drift_check.verdict, drift_check.counts FROM drift_check WHERE drift_check.stack_id = ? AND drift_check.id >= ? AND drift_check.id < ? LIMIT ? OFFSET ?',
    # (stack_id, limit, offset)
    'drift_checks_of_stack': 'SELECT drift_check.id, drift_check.stack_id, drift_check.generation, drift_check.cause, drift_check."by", drift_check.scope, drift_check.owner, drift_check.started_at, drift_check.ended_at, drift_check.status, drift_check.reason, drift_check.verdict, drift_check.counts FROM drift_check WHERE drift_check.stack_id = ? ORDER BY drift_check.rowid DESC LIMIT ? OFFSET ?',
    # ()
    'drift_checks_running': 'SELECT drift_check.id, drift_check.stack_id, drift_check.generation, drift_check.cause, drift_check."by", drift_check.scope, drift_check.owner, drift_check.started_at, drift_check.ended_at, drift_check.status, drift_check.reason, drift_check.verdict, drift_check.counts FROM drift_check WHERE drift_check.status = \'RUNNING\'',
    # (stack_id)
    'drift_check_running': 'SELECT drift_check.id, drift_check.stack_id, drift_check.generation, drift_check.cause, drift_check."by", drift_check.scope, drift_check.owner, drift_check.started_at, drift_check.ended_at, drift_check.status, drift_check.reason, drift_check.verdict, drift_check.counts FROM drift_check WHERE drift_check.stack_id = ? AND drift_check.status = \'RUNNING\'',
    # (stack_id, id)
    'drift_check_before': 'SELECT drift_check.id, drift_check.stack_id, drift_check.generation, drift_check.cause, drift_check."by", drift_check.scope, drift_check.owner, drift_check.started_at, drift_check.ended_at, drift_check.status, drift_check.reason, drift_check.verdict, drift_check.counts FROM drift_check WHERE drift_check.stack_id = ? AND drift_check.id != ? AND drift_check.status = \'COMPLETE\' AND drift_check.scope = \'[]\' ORDER BY drift_check.rowid DESC',
    # (before)
    'delete_old_drift_checks': 'DELETE FROM drift_check WHERE drift_check.ended_at < ?',
    # (9 columns)
    'insert_drift_finding': 'INSERT INTO drift_finding (check_id, resource_id, stack_id, path, type, verdict, reason, diff, ignored) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    # (check_id)
    'drift_findings': 'SELECT drift_finding.check_id, drift_finding.resource_id, drift_finding.stack_id, drift_finding.path, drift_finding.type, drift_finding.verdict, drift_finding.reason, drift_finding.diff, drift_finding.ignored FROM drift_finding WHERE drift_finding.check_id = ? ORDER BY drift_finding.path',
    # (root)
    'drift_rows': "SELECT resource.id, resource.stack_id, resource.name, resource.type, resource.class_type, resource.action, resource.status, resource.op, resource.suspended, resource.fence, resource.given, resource.want, resource.want_hash, drift_state.check_id, drift_state.fence AS fence_1, drift_state.verdict, drift_state.unseen FROM resource JOIN stack ON resource.stack_id = stack.id JOIN stack AS root ON root.id = stack.root_id LEFT OUTER JOIN drift_state ON drift_state.resource_id = resource.id WHERE stack.root_id = ? AND stack.deleted_at IS NULL AND (resource.want = 'PRESENT' OR root.action = 'DELETE')",
    # (resource_id, check_id, fence, verdict, unseen)
    'put_drift_state': 'INSERT INTO drift_state (resource_id, check_id, fence, verdict, unseen) VALUES (?, ?, ?, ?, ?) ON CONFLICT (resource_id) DO UPDATE SET check_id = excluded.check_id, fence = excluded.fence, verdict = excluded.verdict, unseen = excluded.unseen',
    # (8 columns)
    'insert_drift_ignore': 'INSERT INTO drift_ignore (id, stack_id, path, property, until, reason, "by", at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    # (stack_id)
    'drift_ignores_of_stack': 'SELECT drift_ignore.id, drift_ignore.stack_id, drift_ignore.path, drift_ignore.property, drift_ignore.until, drift_ignore.reason, drift_ignore."by", drift_ignore.at FROM drift_ignore WHERE drift_ignore.stack_id = ? ORDER BY drift_ignore.id',
    # (id, stack_id)
    'delete_drift_ignore': 'DELETE FROM drift_ignore WHERE drift_ignore.id = ? AND drift_ignore.stack_id = ?',
    # (now)
    'stacks_drift_due': 'SELECT stack.id, stack.root_id, stack.drift_next FROM stack WHERE stack.drift_next <= ? AND stack.deleted_at IS NULL',
    # ()
    'stacks_repaired_by_schedule': "SELECT stack.id, stack.root_id FROM stack WHERE stack.drift_policy = 'repair' AND stack.drift_next IS NOT NULL AND stack.deleted_at IS NULL",
    # ()
    'stacks_with_drift': 'SELECT stack.id, stack.root_id FROM stack WHERE stack.drift_next IS NOT NULL AND stack.deleted_at IS NULL',
    # (new_next, key, known)
    'advance_drift': 'UPDATE stack SET drift_next=? WHERE stack.id = ? AND stack.drift_next = ?',
    # (id, action, created_at, answer, answered_at, root_id)
    'insert_request': 'INSERT INTO request (id, action, created_at, answer, answered_at, root_id) VALUES (?, ?, ?, ?, ?, ?)',
    # (id)
    'request_by_id': 'SELECT request.id, request.action, request.created_at, request.answer, request.answered_at, request.root_id FROM request WHERE request.id = ?',
    # ()
    'requests_open': 'SELECT request.id, request.action, request.created_at, request.answer, request.answered_at, request.root_id FROM request WHERE request.answered_at IS NULL ORDER BY request.rowid',
    # (id, action, created_at, answer, answered_at, root_id)
    'keep_answer': 'INSERT INTO request (id, action, created_at, answer, answered_at, root_id) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    # (text, at, key)
    'answer_request': 'UPDATE request SET answer=?, answered_at=? WHERE request.id = ? AND request.answered_at IS NULL',
    # (key)
    'withdraw_request': 'DELETE FROM request WHERE request.id = ? AND request.answered_at IS NULL',
    # (before, keyed_before)
    'delete_old_requests': "DELETE FROM request WHERE request.answered_at < ? AND (request.answered_at < ? OR request.id NOT LIKE 'key-%')",
    # ()
    'sinks': 'SELECT sink.name, sink.seq, sink.delivered, sink.delivered_at, sink.failures, sink.failing_since, sink.error, sink.next_at FROM sink ORDER BY sink.name',
    # (name)
    'sink_by_name': 'SELECT sink.name, sink.seq, sink.delivered, sink.delivered_at, sink.failures, sink.failing_since, sink.error, sink.next_at FROM sink WHERE sink.name = ?',
    # (8 columns)
    'insert_sink': 'INSERT INTO sink (name, seq, delivered, delivered_at, failures, failing_since, error, next_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    # (9 columns)
    'move_sink': 'UPDATE sink SET seq=?, delivered=?, delivered_at=?, failures=?, failing_since=?, error=?, next_at=? WHERE sink.name = ? AND sink.seq = ?',
    # (name)
    'meta_value': 'SELECT meta.value FROM meta WHERE meta.name = ?',
    # (name, value)
    'put_meta': 'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    # (me)
    'member_fence': 'SELECT 1 FROM member WHERE member.id = ?',
    # ()
    'members': 'SELECT member.id, member.host, member.pid FROM member ORDER BY member.started_at, member.id',
    # (of)
    'duty_holder': 'SELECT member.host, member.pid FROM member, duty WHERE duty."key" = ? AND duty.member = member.id',
    # (key, member, since, not_before, takeovers)
    'duty_add': 'INSERT INTO duty ("key", member, since, not_before, takeovers) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    # (new_member, new_since, of, now)
    'duty_claim': 'UPDATE duty SET member=?, since=? WHERE duty."key" = ? AND duty.member IS NULL AND duty.not_before <= ? RETURNING takeovers',
    # (of, me)
    'duty_progress': 'UPDATE duty SET takeovers=0 WHERE duty."key" = ? AND duty.member = ?',
    # (of)
    'duty_owner': 'SELECT duty.member FROM duty WHERE duty."key" = ?',
    # (of, me)
    'duty_lock': 'SELECT 1 FROM duty WHERE duty."key" = ? AND duty.member = ?',
    # (now, of, me)
    'duty_free': 'UPDATE duty SET member=NULL, since=? WHERE duty."key" = ? AND duty.member = ?',
    # (of, me, root, root, root, root)
    'duty_end': 'DELETE FROM duty WHERE duty."key" = ? AND duty.member = ? AND NOT (EXISTS (SELECT * FROM request WHERE request.root_id = ? AND request.answered_at IS NULL)) AND NOT ((EXISTS (SELECT * FROM stack WHERE stack.root_id = ? AND (stack.phase != \'IDLE\' OR stack.next_action != \'\'))) OR (EXISTS (SELECT * FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = ? AND (resource.op != \'\' OR resource.below != resource.below_seen AND resource.outputs_hash != \'\' OR resource.open = 1 AND resource.waiting = 0 AND stack.deleted_at IS NULL))) OR (EXISTS (SELECT * FROM drift_check, stack WHERE drift_check.stack_id = stack.id AND stack.root_id = ? AND drift_check.status = \'RUNNING\')))',
    # (now, most, offset)
    'duties_free': 'SELECT duty."key" FROM duty WHERE duty.member IS NULL AND duty.not_before <= ? AND duty."key" LIKE \'tree:%\' ORDER BY duty."key" LIMIT ? OFFSET ?',
    # (root)
    'drift_checks_running_of_tree': 'SELECT drift_check.id, drift_check.stack_id, drift_check.generation, drift_check.cause, drift_check."by", drift_check.scope, drift_check.owner, drift_check.started_at, drift_check.ended_at, drift_check.status, drift_check.reason, drift_check.verdict, drift_check.counts FROM drift_check, stack WHERE drift_check.stack_id = stack.id AND stack.root_id = ? AND drift_check.status = \'RUNNING\'',
    # ()
    'duties_owed': 'INSERT INTO duty ("key", member, since, not_before, takeovers) SELECT \'tree:\' || root.id AS anon_1, NULL AS anon_2, 0.0, 0.0, 0 FROM stack AS root WHERE root.id = root.root_id AND ((EXISTS (SELECT * FROM stack WHERE stack.root_id = root.id AND (stack.phase != \'IDLE\' OR stack.next_action != \'\'))) OR (EXISTS (SELECT * FROM resource, stack WHERE resource.stack_id = stack.id AND stack.root_id = root.id AND (resource.op != \'\' OR resource.below != resource.below_seen AND resource.outputs_hash != \'\' OR resource.open = 1 AND resource.waiting = 0 AND stack.deleted_at IS NULL))) OR (EXISTS (SELECT * FROM drift_check, stack WHERE drift_check.stack_id = stack.id AND stack.root_id = root.id AND drift_check.status = \'RUNNING\')))',
    # (id, kind, project, user_id, body, ends_at)
    'insert_page_state': 'INSERT INTO page_state (id, kind, project, user_id, body, ends_at) VALUES (?, ?, ?, ?, ?, ?)',
    # (id, kind, project, now)
    'page_state': 'SELECT page_state.body FROM page_state WHERE page_state.id = ? AND page_state.kind = ? AND page_state.project = ? AND page_state.ends_at > ?',
    # (kind)
    'page_states': 'SELECT page_state.id, page_state.project, page_state.user_id FROM page_state WHERE page_state.kind = ? ORDER BY page_state.ends_at, page_state.id',
    # (id, kind)
    'delete_page_state': 'DELETE FROM page_state WHERE page_state.id = ? AND page_state.kind = ?',
    # (kind, limit, most)
    'delete_surplus_page_states': 'DELETE FROM page_state WHERE page_state.id IN (SELECT page_state.id FROM page_state WHERE page_state.kind = ? ORDER BY page_state.ends_at DESC, page_state.id DESC LIMIT ? OFFSET ?)',
    # (before)
    'delete_old_page_states': 'DELETE FROM page_state WHERE page_state.ends_at < ?',
}
