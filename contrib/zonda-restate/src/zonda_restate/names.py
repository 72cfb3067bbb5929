"""The handler that a workflow's name means: ``SERVICE/HANDLER`` or ``SERVICE/KEY/HANDLER``.

The second form is for virtual objects and workflows of Restate, whose instances have keys. A key
may hold ``{key}``, the idempotency key of the operation, and ``{resource}``, the id of the resource
in zonda. Every run of a Restate workflow needs a key of its own: ``Flow/{key}/run``.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from zonda.hooks import UsageError

KEY, RESOURCE = "{key}", "{resource}"


@dataclass(frozen=True, slots=True)
class Target:
    """A handler of a service, and the key of the instance where it has one."""

    service: str
    handler: str
    key: str = ""

    @property
    def is_keyed_by_operation(self) -> bool:
        """Whether the key alone makes a repeated start find the first one."""
        return KEY in self.key

    def path(self, key: str, resource: str) -> str:
        """The path below the ingress, every part quoted."""
        parts = [self.service, self.handler]
        if self.key:
            parts.insert(1, self.key.replace(KEY, key).replace(RESOURCE, resource))
        return "/".join(quote(part, safe="") for part in parts)


def target_of(workflow: str) -> Target:
    """The target of the name ``workflow``; raises UsageError."""
    parts = workflow.split("/")
    if not all(part.strip(".") for part in parts) or len(parts) not in (2, 3):
        raise UsageError(
            f"{workflow!r} names no handler of Restate.",
            hint="Write SERVICE/HANDLER, or SERVICE/KEY/HANDLER where instances have keys.",
        )
    if len(parts) == 2:
        return Target(parts[0], parts[1])
    return Target(parts[0], parts[2], parts[1])
