"""Hidden values that the kit gives to a type, and a search for them in all that is shown."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..context import ResourceContext
from ..resources.resource import Resource
from ..schema import examples
from ..schema.properties import Schema
from ..testing.lifecycle import Lifecycle
from ..text.sanitize import describe_exception, safe_str

#: Shorter texts come up by accident.
SHORTEST: Final = 6
_TEXTS: Final = ("s3cret-{}-7f3a91", "S3cret7f3a91{}", "s3cret7f")


def make_hidden_text(name: str, schema: Schema, context: ResourceContext) -> str | None:
    """A text for a hidden property that is found again wherever it leaks."""
    if schema.type != Schema.STRING:
        return None
    for text in _TEXTS:
        if examples.is_valid_value(schema, text.format(name), context):
            return text.format(name)
    return None


class LeakDetector(logging.Handler):
    """A log handler that searches all that is shown for secrets; ``leaks``: where they were."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.secrets: set[str] = set()
        self.leaks: dict[str, None] = {}
        #: The data of life cycles that the stored data is compared with.
        self.state_losses: dict[str, None] = {}
        self._level = logging.WARNING

    def __enter__(self) -> LeakDetector:
        root = logging.getLogger()
        self._level = root.level
        root.addHandler(self)
        root.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *_: object) -> None:
        root = logging.getLogger()
        root.removeHandler(self)
        root.setLevel(self._level)

    def emit(self, record: logging.LogRecord) -> None:
        """Search one message of a log."""
        self.look_for_secrets(f"the log {record.name}", record.getMessage())

    def knows(self, cls: type[Resource], properties: Mapping[str, Any]) -> None:
        """Remember the hidden properties that a resource was given."""
        for name, schema in cls.properties_schema.items():
            value = properties.get(name)
            if schema.hidden and isinstance(value, str) and len(value) >= SHORTEST:
                self.secrets.add(value)

    def look_for_secrets(self, where: str, thing: object) -> None:
        """Record a leak if ``thing``, which anybody may see, holds a secret."""
        if self.secrets and any(secret in safe_str(thing) for secret in self.secrets):
            self.leaks[where] = None

    def inspect_resource(self, life: Lifecycle) -> None:
        """Search all that a resource shows and stores unsealed."""
        self.look_for_secrets("progress messages", life.context.messages)
        self.look_for_secrets("the physical id", life.resource_id)
        self.look_for_secrets("the metadata", life.saved.metadata)
        for key, value in life.saved.data.items():
            if key not in life.saved.redacted:
                self.look_for_secrets(f"data_set({key!r}) without redact=True", value)
        self._inspect_attributes(life, life.cls.attributes_schema)

    def _inspect_attributes(self, life: Lifecycle, names: Iterable[str]) -> None:
        if not self.secrets or life.resource_id is None:
            return
        hidden = {key for key, schema in life.cls.properties_schema.items() if schema.hidden}
        for name in names:
            schema = life.cls.attributes_schema[name]
            told = hidden & {name, *life.cls.exposes_properties.get(name, ())}
            if not (schema.hidden or schema.sealed or told):
                self.look_for_secrets(
                    f"the attribute {name}, which is not hidden", _read_attribute(life, name)
                )
        if not hidden & set(life.cls.exposes_properties.get(None, ())):
            self.look_for_secrets("the reference", life.reference)


def _read_attribute(life: Lifecycle, name: str) -> Any:
    """The value of an attribute; the error text where it cannot be read, which is shown, too."""
    try:
        return life.attribute(name)
    except Exception as error:  # the border: a plug-in is asked for an attribute
        return describe_exception(error)
