"""Names of stacks, resources and events in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote


class HeatIdentifier(Mapping[str, Any]):
    """A stack, by tenant, name and id; ``path`` leads to what is inside it."""

    FIELDS = (TENANT, STACK_NAME, STACK_ID, PATH) = ("tenant", "stack_name", "stack_id", "path")

    def __init__(self, tenant: str, stack_name: str, stack_id: Any, path: str = "") -> None:
        if path and not path.startswith("/"):
            path = "/" + path
        if "/" in stack_name:
            raise ValueError('Stack name may not contain "/"')
        fields = (tenant, stack_name, str(stack_id), path)
        self.identity = dict(zip(self.FIELDS, fields, strict=True))

    def stack_path(self) -> str:
        return f"{quote(self.stack_name, '')}/{quote(self.stack_id, '')}"

    def url_path(self) -> str:
        return f"{quote(self.tenant, '')}/stacks/{self.stack_path()}{quote(self.path)}"

    def arn(self) -> str:
        return f"arn:openstack:heat::{quote(self.tenant, '')}:stacks/{self.stack_path()}{self.path}"

    def arn_url_path(self) -> str:
        return "/" + quote(self.arn(), "")

    def stack(self) -> HeatIdentifier:
        return HeatIdentifier(self.tenant, self.stack_name, self.stack_id)

    def __getattr__(self, name: str) -> Any:
        if name in self.FIELDS:
            return self.identity[name]
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def __getitem__(self, key: str) -> Any:
        return self.identity[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.FIELDS)

    def __len__(self) -> int:
        return len(self.FIELDS)

    def __repr__(self) -> str:
        return repr(self.identity)


class ResourceIdentifier(HeatIdentifier):
    """A resource of a stack."""

    def __init__(
        self, tenant: str, stack_name: str, stack_id: Any, path: str, resource_name: str = ""
    ) -> None:
        if resource_name:
            path = f"{path.rstrip('/')}/resources/{resource_name}"
        super().__init__(tenant, stack_name, stack_id, path)

    @property
    def resource_name(self) -> str:
        return str(self.path).rpartition("/")[2]


class EventIdentifier(HeatIdentifier):
    """An event of a resource."""

    def __init__(
        self, tenant: str, stack_name: str, stack_id: Any, path: str, event_id: str = ""
    ) -> None:
        if event_id:
            path = f"{path.rstrip('/')}/events/{event_id}"
        super().__init__(tenant, stack_name, stack_id, path)

    @property
    def event_id(self) -> str:
        return str(self.path).rpartition("/")[2]
