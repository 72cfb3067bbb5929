"""How far something has come: tokens that checks change as they go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Progress:
    """Says of itself what it holds, and is equal to what holds the same."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"


class ServerCreateProgress(Progress):
    def __init__(self, server_id: Any, complete: bool = False) -> None:
        self.complete = complete
        self.server_id = server_id


class UpdateProgressBase(Progress):
    def __init__(
        self,
        resource_id: Any,
        handler: str,
        complete: bool = False,
        called: bool = False,
        handler_extra: Mapping[str, Any] | None = None,
        checker_extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.complete = complete
        self.called = called
        self.handler = handler
        self.checker = f"check_{handler}"
        first: dict[str, Any] = {"args": (resource_id,), "kwargs": {}}
        self.handler_extra = {**first, **(handler_extra or {})}
        self.checker_extra = {**first, **(checker_extra or {})}
        if not isinstance(self.handler_extra["args"], tuple):
            self.handler_extra["args"] = tuple(self.handler_extra["args"])


class ServerUpdateProgress(UpdateProgressBase):
    def __init__(self, server_id: Any, handler: str, *more: Any, **named: Any) -> None:
        super().__init__(server_id, handler, *more, **named)
        self.server_id = server_id


class ContainerUpdateProgress(UpdateProgressBase):
    def __init__(self, container_id: Any, handler: str, *more: Any, **named: Any) -> None:
        super().__init__(container_id, handler, *more, **named)
        self.container_id = container_id


class ServerDeleteProgress(Progress):
    def __init__(self, server_id: Any, image_id: Any = None, image_complete: bool = True) -> None:
        self.server_id = server_id
        self.image_id = image_id
        self.image_complete = image_complete


class VolumeDetachProgress(Progress):
    def __init__(
        self, srv_id: Any, vol_id: Any, attach_id: Any, task_complete: bool = False
    ) -> None:
        self.called = task_complete
        self.cinder_complete = task_complete
        self.nova_complete = task_complete
        self.srv_id = srv_id
        self.vol_id = vol_id
        self.attach_id = attach_id


class VolumeAttachProgress(Progress):
    def __init__(self, srv_id: Any, vol_id: Any, device: Any, task_complete: bool = False) -> None:
        self.called = task_complete
        self.complete = task_complete
        self.srv_id = srv_id
        self.vol_id = vol_id
        self.device = device


class VolumeDeleteProgress(Progress):
    def __init__(self, task_complete: bool = False) -> None:
        self.backup = {"called": task_complete, "complete": task_complete}
        self.delete = {"called": task_complete, "complete": task_complete}
        self.backup_id: Any = None


class VolumeResizeProgress(Progress):
    def __init__(
        self, task_complete: bool = False, size: Any = None, pre_check: bool = False
    ) -> None:
        self.called = task_complete
        self.complete = task_complete
        self.size = size
        self.pre_check = pre_check


class VolumeUpdateAccessModeProgress(Progress):
    def __init__(self, task_complete: bool = False, read_only: Any = None) -> None:
        self.called = task_complete
        self.read_only = read_only


class VolumeBackupRestoreProgress(Progress):
    def __init__(self, vol_id: Any, backup_id: Any) -> None:
        self.called = False
        self.complete = False
        self.vol_id = vol_id
        self.backup_id = backup_id


class PoolDeleteProgress(Progress):
    def __init__(self, task_complete: bool = False) -> None:
        self.pool = {"delete_called": task_complete, "deleted": task_complete}
        self.vip = {"delete_called": task_complete, "deleted": task_complete}
