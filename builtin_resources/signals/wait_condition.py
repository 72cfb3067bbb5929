"""``OS::Heat::WaitCondition`` and ``AWS::CloudFormation::WaitCondition``: wait for signals."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from typing import Any, ClassVar

from zonda.hooks import (
    NotReady,
    ResourceDefinition,
    ResourceFailure,
    SupportStatus,
    attributes,
    constraints,
    properties,
)

from ..base import LocalResource
from ..basic.timer import get_age
from ..schema import make_text_schema
from .wait_condition_handle import FAILURE, SUCCESS, Handle

#: Between two looks: at first, and at last. A signal from the same stack is seen at once.
_FIRST_LOOK, _LAST_LOOK = 0.5, 15.0

_Schema = properties.Schema


def _make_schema(
    handle: str, timeout: str, count: str, kind: str
) -> Mapping[str, properties.Schema]:
    return {
        handle: make_text_schema(
            "The handle that the signals are sent to, by its reference.", required=True
        ),
        timeout: _Schema(
            kind,
            "How many seconds it waits.",
            required=True,
            constraints=[constraints.Range(1, 43200)],
        ),
        count: _Schema(
            _Schema.INTEGER,
            "How many signals of success there must be.",
            default=1,
            update_allowed=True,
            constraints=[constraints.Range(min=1)],
        ),
    }


def _make_data_schema() -> attributes.Schema:
    return attributes.Schema(
        "The data of the signals by their ids, as JSON text.",
        cache_mode=attributes.Schema.CACHE_NONE,
        type=attributes.Schema.STRING,
    )


class WaitCondition(LocalResource):
    """Is complete once its handle has so many signals of success; one of failure fails it at once.

    An update waits again, which takes no time where the signals are there already.
    """

    support_status = SupportStatus(version="2014.2")
    #: The names of handle, timeout and count, and of the attribute.
    names: ClassVar[tuple[str, str, str, str]] = ("handle", "timeout", "count", "data")
    properties_schema = _make_schema("handle", "timeout", "count", _Schema.NUMBER)
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {"data": _make_data_schema()}

    def handle_create(self) -> dict[str, Any]:
        """Begin to wait."""
        return self._wait(self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Begin to wait again."""
        return self._wait(self.make_properties(json_snippet))

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Do nothing: it has waited already, and has no id of its own."""

    def check_create_complete(self, token: MutableMapping[str, Any]) -> bool:
        """Whether there are enough signals; raises ResourceFailure for a bad one or a late one."""
        known = self._find_handle(token["handle"]).signals().values()
        failed = [each["reason"] for each in known if each["status"] == FAILURE]
        if failed:
            raise _build_error("WaitConditionFailure", ";".join(failed))
        reasons = [each["reason"] for each in known if each["status"] == SUCCESS]
        if len(reasons) >= token["count"]:
            return True
        received = f"{len(reasons)} of {token['count']} received"
        waited = get_age(self.context.clock, token)
        left = token["timeout"] - waited
        if left <= 0:
            raise _build_error(
                "WaitConditionTimeout", " - ".join([received, *filter(None, [";".join(reasons)])])
            )
        self.context.progress(f"{received}, waits {left:.0f} s more at most")
        raise NotReady(min(max(waited / 4, _FIRST_LOOK), _LAST_LOOK, left), received)

    check_update_complete = check_create_complete

    def _wait(self, props: properties.Properties) -> dict[str, Any]:
        handle, timeout, count, _ = self.names
        self._find_handle(props[handle])
        return {
            "handle": props[handle],
            "count": props[count],
            "timeout": float(props[timeout]),
            "started_at": self.context.clock.now(),
        }

    def _find_handle(self, reference: str) -> Handle:
        found = self.context.find_resource(reference)
        if not isinstance(found, Handle):
            name = reference if found is None else found.name
            raise _build_error("ValueError", f"{name} is not a valid wait condition handle.")
        return found

    def _resolve_attribute(self, name: str) -> Any:
        found = self.context.find_resource(self.properties[self.names[0]])
        if not isinstance(found, Handle):
            return None
        return json.dumps({key: each["data"] for key, each in found.signals().items()})


class AwsWaitCondition(WaitCondition):
    """Like OS::Heat::WaitCondition, with the names that AWS has for its properties."""

    support_status = SupportStatus(version="2014.1")
    names = ("Handle", "Timeout", "Count", "Data")
    properties_schema = _make_schema("Handle", "Timeout", "Count", _Schema.INTEGER)
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {"Data": _make_data_schema()}


def _build_error(kind: str, message: str) -> ResourceFailure:
    error = ResourceFailure(message)
    error.heat_type = kind
    return error
