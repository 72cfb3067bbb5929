"""``OS::Heat::TestResource``: fails, waits and replaces itself on demand, for tests."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import ResourceDefinition, SupportStatus, attributes, properties

from ..base import LocalResource
from .timer import is_over, make_wait_token

VALUE = "value"
REPLACE_VALUE = "update_replace_value"
FAIL = "fail"
REPLACE = "update_replace"
WAIT = "wait_secs"
ACTION_WAIT = "action_wait_secs"
ATTRIBUTE_WAIT = "attr_wait_secs"
CONSTRAINT_WAIT = "constraint_prop_secs"
CLIENT = "client_name"
ENTITY = "entity_name"
OUTPUT = "output"

_Schema = properties.Schema


def _make_changeable_schema(data_type: str, description: str, default: Any) -> properties.Schema:
    return _Schema(data_type, description, default=default, update_allowed=True)


def _make_wait_schema(action: str) -> properties.Schema:
    text = f"Seconds to wait after a {action}; wait_secs if it is not given."
    return _Schema(_Schema.NUMBER, text, update_allowed=True)


class TestResource(LocalResource):
    """Stores a text and behaves as badly as its properties say.

    Waiting takes no thread. So ``attr_wait_secs`` is not waited for when the attribute is read,
    but after creation and update, before the attribute exists; ``constraint_prop_secs``,
    ``client_name`` and ``entity_name`` are accepted and do nothing, since validation must not wait
    and there is no service to ask.
    """

    __test__ = False  # pytest takes classes of this name for tests

    support_status = SupportStatus(version="5.0.0")
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {OUTPUT: (VALUE,)}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        VALUE: _make_changeable_schema(_Schema.STRING, "The text to store.", "test_string"),
        REPLACE_VALUE: _Schema(
            _Schema.STRING, "Stored nowhere; a change of it asks for a replacement."
        ),
        FAIL: _make_changeable_schema(_Schema.BOOLEAN, "Whether creation and update fail.", False),
        REPLACE: _make_changeable_schema(
            _Schema.BOOLEAN, "Whether a change of value asks for a replacement.", False
        ),
        WAIT: _make_changeable_schema(
            _Schema.NUMBER, "Seconds to wait after an action; below zero: for ever.", 0
        ),
        ACTION_WAIT: _Schema(
            _Schema.MAP,
            "Seconds to wait after certain actions.",
            update_allowed=True,
            schema={action: _make_wait_schema(action) for action in ("create", "update", "delete")},
        ),
        ATTRIBUTE_WAIT: _make_changeable_schema(
            _Schema.NUMBER, "Seconds until attributes are there.", 0
        ),
        CONSTRAINT_WAIT: _make_changeable_schema(_Schema.NUMBER, "Accepted, without effect.", 0),
        CLIENT: _make_changeable_schema(_Schema.STRING, "Accepted, without effect.", ""),
        ENTITY: _make_changeable_schema(_Schema.STRING, "Accepted, without effect.", ""),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        OUTPUT: attributes.Schema(
            "The stored text.",
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        )
    }

    def handle_create(self) -> dict[str, Any]:
        """Store the text, unless creation is to fail."""
        if not self.properties[FAIL]:
            self.data_set(VALUE, self.properties[VALUE])
            self.resource_id_set(self.physical_resource_name())
        return self._make_token("create", self.properties)

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Another value needs a replacement if ``update_replace`` says so."""
        return VALUE in changed and bool(after[REPLACE])

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Store a changed text, unless it is empty or the update is to fail."""
        after = self.make_properties(json_snippet)
        value = prop_diff.get(VALUE)
        if value and not after[FAIL]:
            self.data_set(VALUE, value)
        return self._make_token("update", after, waits=bool(value))

    def handle_delete(self) -> dict[str, Any]:
        """Wait, if that is wanted."""
        return self._make_token("delete", self.properties)

    def _make_token(
        self, action: str, props: properties.Properties, *, waits: bool = True
    ) -> dict[str, Any]:
        seconds = _get_wait(action, props) if waits else 0
        if action == "delete":
            return make_wait_token(self.context.clock, seconds)
        if seconds >= 0:
            seconds += max(0, props[ATTRIBUTE_WAIT])
        return {**make_wait_token(self.context.clock, seconds), "fail": props[FAIL]}

    def check_create_complete(self, token: MutableMapping[str, Any]) -> bool:
        """Whether the time is over; then fail, if that is wanted."""
        over = is_over(self.context.clock, token)
        if over and token["fail"]:
            raise ValueError(f"Test Resource failed {self.name}")
        return over

    check_update_complete = check_create_complete

    def check_delete_complete(self, token: MutableMapping[str, Any]) -> bool:
        """Whether the time is over; deleting never fails."""
        return is_over(self.context.clock, token)

    def _resolve_attribute(self, name: str) -> Any:
        return self.data().get(VALUE)


def _get_wait(action: str, props: properties.Properties) -> Any:
    # The null of an action that is not named must not count as zero here, so the value is read
    # as it is stored.
    own = (props.convert(ACTION_WAIT) or {}).get(action)
    return props[WAIT] if own is None else own
