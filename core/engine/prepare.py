"""What is to be done with an instance: its definition is resolved and compared. In the pool.

Gives a ``Prepared`` and never raises what a plug-in or a template raised: that is a verdict.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from zonda.core.store.rows import ResourceRow
from zonda.core.template.fingerprint import canonical
from zonda.hooks.definition import ResourceDefinition
from zonda.hooks.errors import TemplateError
from zonda.hooks.properties import Properties
from zonda.hooks.resource import Resource

from .definitions import Definition, Node
from .instances import Instances, Seen, written
from .outcome import Prepared, Verdict
from .reasons import Secrets, is_a_plugins, reason_for
from .values import RowValues


class Preparation:
    """One look at one instance that is wanted PRESENT."""

    def __init__(self, instances: Instances, seen: Seen) -> None:
        self.instances = instances
        self.seen = seen
        self.row = seen.row
        self.resolved: ResourceDefinition | None = None
        self.cls: type[Resource] | None = None
        self.secrets = Secrets()

    def run(self) -> Prepared:
        """The verdict."""
        op = "CREATE" if self.row.action == "INIT" else "UPDATE"
        try:
            return self._run()
        except BaseException as error:  # a plug-in or the template's author is at fault
            if not is_a_plugins(error):
                raise
            return Prepared("fail", op, reason_for(self.row.name, error, self.secrets))

    def _run(self) -> Prepared:
        row = self.row
        assert row.want_template_id is not None
        definition = self.instances.definitions.get(row.want_template_id)
        node: Node = definition.resources[row.name]
        self.cls = node.cls
        self.secrets = Secrets.of(definition, row.name)
        self.secrets.add_read(definition, self.seen.required, self.instances.lending.sealer)
        self.resolved = node.resolve(definition.scope(self._values()))
        self.secrets.add_properties(self.resolved.properties)
        if row.action == "INIT":
            return self._create(definition, node)
        return self._update(definition, node)

    def _values(self) -> RowValues:
        instances, stack = self.instances, self.seen.stack

        def build(row: ResourceRow) -> Resource:
            data = instances.definitions.reader.sealed_data(row.id)
            return instances.make(Seen(row, stack, data))

        return RowValues(self.seen.required, instances.lending.sealer, build)

    def _create(self, definition: Definition, node: Node) -> Prepared:
        assert self.resolved is not None
        if self.resolved.external_id is not None:
            if not self.resolved.external_id:
                raise _NoExternalId("Resource ID was not provided.")
            return self._begin("CHECK", definition, dict(self.resolved.properties))
        instance = self._after()
        _validate(instance.properties, node.name)
        return self._begin("CREATE", definition, instance.properties.stored())

    def _after(self) -> Resource:
        return self.instances.make(self.seen, definition=self.resolved, cls=self.cls)

    def _update(self, definition: Definition, node: Node) -> Prepared:
        assert self.resolved is not None
        row, resolved = self.row, self.resolved
        if (row.external_id or None) != resolved.external_id:
            return self._refuse("external_id")
        if row.class_type != self.instances.definitions.class_type(node.cls):
            return self._replace(definition)
        before = self.instances.make(self.seen)
        # an update that could not be begun has failed too, and done nothing: its hash is there
        failed = not row.have_hash or (row.status == "FAILED" and row.action != "UPDATE")
        broken = row.action == "DELETE" or (row.action, row.status) == ("CHECK", "FAILED")
        if broken or (failed and before.needs_replace_failed()):
            return self._replace(definition)
        if resolved.external_id is not None:
            return Prepared("unchanged")
        after = self._after()
        if node.cls.never_update:
            # nothing is done, yet what is shown of the resource is what the template says now
            shown = self._begin("UPDATE", definition, after.properties.stored())
            return dataclasses.replace(shown, verdict="unchanged")
        same = self._hash() == row.resolved_hash
        if same and not failed and not after.always_update():
            return Prepared("unchanged")
        return self._changed(definition, before, after)

    def _changed(self, definition: Definition, before: Resource, after: Resource) -> Prepared:
        _validate(after.properties, self.row.name)
        changed = after.properties.diff(before.properties)
        fixed = after.properties.immutable(changed)
        if fixed:
            return self._refuse(f"properties {', '.join(fixed)}", "fail")
        if changed and (
            before.needs_replace_with_prop_diff(changed, after.properties, before.properties)
            or not after.properties.update_allowed(changed)
        ):
            return self._replace(definition)
        if "update" in definition.registry.restricted_actions(self.row.name):
            return self._restricted("update")
        return self._begin("UPDATE", definition, after.properties.stored())

    def _replace(self, definition: Definition) -> Prepared:
        if "replace" in definition.registry.restricted_actions(self.row.name):
            return self._restricted("replace")
        return Prepared("replace")

    def _restricted(self, what: str) -> Prepared:
        text = f"resources.{self.row.name}: {what} is restricted for resource."
        return Prepared("fail", "UPDATE", f"ResourceActionRestricted: {text}")

    def _refuse(self, what: str, verdict: Verdict = "refuse") -> Prepared:
        name, kind = self.row.name, self.row.type
        named = what if what.startswith("properties") else f"property {what}"
        text = f"resources.{name}: Update to {named} of {name} ({kind}) is not supported."
        return Prepared(verdict, "UPDATE", f"NotSupported: {text}")

    def _hash(self) -> str:
        assert self.resolved is not None
        text = canonical(written(self.resolved))
        return self.instances.lending.sealer.hmac(text.encode())

    def _begin(self, op: str, definition: Definition, shown: Mapping[str, Any]) -> Prepared:
        assert self.resolved is not None
        assert self.cls is not None
        resolved, sealer, secrets = self.resolved, self.instances.lending.sealer, self.secrets
        metadata = None
        if op != "UPDATE" or resolved.metadata != self.instances.stored(self.row).metadata:
            metadata = sealer.dump(resolved.metadata, sealed=secrets.metadata)
        return Prepared(
            "begin",
            op,
            definition=sealer.dump(written(resolved), sealed=secrets.any),
            properties=sealer.dump(shown, sealed=secrets.properties),
            hidden=json.dumps(secrets.hidden(definition, self.cls)),
            metadata=metadata,
            retain=resolved.deletion_policy == "Retain",
            external_id=resolved.external_id,
            resolved_hash=self._hash(),
            type=resolved.type,
            class_type=self.instances.definitions.class_type(self.cls),
        )


class _NoExternalId(Exception):
    heat_type = "Exception"


def _validate(properties: Properties, name: str) -> None:
    faults: list[TemplateError] = properties.validate((name, "Properties"), pending=())
    if faults:
        raise faults[0]
