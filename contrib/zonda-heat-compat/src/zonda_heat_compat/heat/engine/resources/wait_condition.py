"""The base of handles that collect signals in their metadata."""

from __future__ import annotations

from typing import Any, ClassVar

from heat.common import exception
from heat.engine.resources import signal_responder


class BaseWaitConditionHandle(signal_responder.SignalResponder):
    """Keeps the signals that it gets: by id, each with a status, a reason and data."""

    WAIT_STATUSES = (STATUS_FAILURE, STATUS_SUCCESS) = ("FAILURE", "SUCCESS")
    properties_schema: ClassVar[Any] = {}

    def handle_create(self) -> Any:
        super().handle_create()
        self.resource_id_set(self.physical_resource_name())

    def _status_ok(self, status: Any) -> bool:
        return status in self.WAIT_STATUSES

    def _metadata_format_ok(self, metadata: Any) -> bool:
        return (
            isinstance(metadata, dict)
            and bool(metadata)
            and self._status_ok(metadata.get("status"))
        )

    def normalise_signal_data(self, signal_data: Any, latest_metadata: Any) -> Any:
        """What a signal says, with every key."""
        return signal_data

    def handle_signal(self, details: Any = None) -> Any:
        said: dict[str, Any] = {}

        def merged(details: Any, known: dict[str, Any]) -> dict[str, Any]:
            signal = self.normalise_signal_data(details, known)
            if not self._metadata_format_ok(signal):
                raise ValueError(f"{self.name}: a signal must have a status, not {signal}")
            given = dict(signal)
            key = given.pop("id")
            said.update(key=key, status=given.get("status"), reason=given.get("reason"))
            if key in known:
                return known
            return {**known, key: given}

        self.metadata_set(details or {}, merge_metadata=merged)
        return f"status:{said['status']} reason:{said['reason']}"

    def get_status(self) -> list[Any]:
        """The statuses of all signals."""
        return [each["status"] for each in self.metadata_get(refresh=True).values()]

    def get_status_reason(self, status: str) -> list[Any]:
        """The reasons of the signals of one status."""
        signals = self.metadata_get(refresh=True).values()
        return [each["reason"] for each in signals if each["status"] == status]


class WaitConditionFailure(exception.Error):
    """A signal said FAILURE."""

    def __init__(self, wait_condition: Any, handle: Any) -> None:
        super().__init__(";".join(handle.get_status_reason(handle.STATUS_FAILURE)))


class WaitConditionTimeout(exception.Error):
    """Fewer signals came than were waited for."""

    def __init__(self, wait_condition: Any, handle: Any) -> None:
        count = wait_condition.properties[wait_condition.COUNT]
        super().__init__(f"{len(handle.get_status())} of {count} received")
