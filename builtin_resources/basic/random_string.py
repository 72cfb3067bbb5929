"""``OS::Heat::RandomString``: makes passwords and other secrets."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import (
    ResourceFailure,
    TemplateError,
    TranslationRule,
    attributes,
    constraints,
    properties,
    support,
)

from ..base import LocalResource

LENGTH = "length"
SEQUENCE = "sequence"
CLASSES = "character_classes"
SEQUENCES = "character_sequences"
SALT = "salt"
CLASS = "class"
MIN = "min"
VALUE = "value"

CHARACTERS: Final = {
    "lettersdigits": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "lowercase": string.ascii_lowercase,
    "uppercase": string.ascii_uppercase,
    "digits": string.digits,
    "hexdigits": string.digits + "ABCDEF",
    "octdigits": string.octdigits,
}

_Schema = properties.Schema


def _make_minimum_schema(of_what: str) -> properties.Schema:
    return _Schema(
        _Schema.INTEGER,
        f"How many characters come from this {of_what} at least.",
        default=1,
        constraints=[constraints.Range(1, 512)],
    )


class RandomString(LocalResource):
    """A random text; it is its own reference, and the attribute ``value``.

    Nothing can be changed in place: every change makes a new text.
    """

    support_status = support.SupportStatus(version="2014.1")
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {None: (VALUE,)}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        LENGTH: _Schema(
            _Schema.INTEGER,
            "The length of the text.",
            default=32,
            constraints=[constraints.Range(1, 512)],
        ),
        SEQUENCE: _Schema(
            _Schema.STRING,
            "The class of characters to choose from.",
            constraints=[constraints.AllowedValues(list(CHARACTERS))],
            support_status=support.SupportStatus(
                support.HIDDEN,
                version="5.0.0",
                previous_status=support.SupportStatus(
                    support.DEPRECATED, f"Use property {CLASSES}.", version="2014.2"
                ),
            ),
        ),
        CLASSES: _Schema(
            _Schema.LIST,
            "The classes of characters to choose from.",
            default=[{CLASS: "lettersdigits", MIN: 1}],
            schema=_Schema(
                _Schema.MAP,
                schema={
                    CLASS: _Schema(
                        _Schema.STRING,
                        "The name of the class.",
                        default="lettersdigits",
                        constraints=[constraints.AllowedValues(list(CHARACTERS))],
                    ),
                    MIN: _make_minimum_schema("class"),
                },
            ),
        ),
        SEQUENCES: _Schema(
            _Schema.LIST,
            "Lists of characters to choose from, each written as one text.",
            schema=_Schema(
                _Schema.MAP,
                schema={
                    SEQUENCE: _Schema(_Schema.STRING, "The characters.", required=True),
                    MIN: _make_minimum_schema("list"),
                },
            ),
        ),
        SALT: _Schema(_Schema.STRING, "Not used for the text: changing it makes a new one."),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        VALUE: attributes.Schema(
            "The text.",
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
            sealed=True,
        )
    }

    def translation_rules(self, props: properties.Properties) -> Sequence[TranslationRule]:
        """The old property ``sequence`` is one class more."""
        old = props[SEQUENCE]
        if not old:
            return ()
        rule = TranslationRule
        return (
            rule(props, rule.ADD, [CLASSES], [{CLASS: old, MIN: 1}]),
            rule(props, rule.DELETE, [SEQUENCE]),
        )

    def validate(self) -> None:
        """The minimums together must fit into the length."""
        wanted = [entry[MIN] for name in (SEQUENCES, CLASSES) for entry in self.properties[name]]
        if sum(wanted) > self.properties[LENGTH]:
            raise TemplateError(
                "Length property cannot be smaller than combined character class and character "
                "sequence minimums"
            )

    def handle_create(self) -> None:
        """Make the text."""
        self.data_set(VALUE, self._make_text(), redact=True)
        self.resource_id_set(self.physical_resource_name())

    def _make_text(self) -> str:
        random = self.context.random
        sources = _list_sources(self.properties)
        if not all(characters for characters, _ in sources) or not sources:
            raise ResourceFailure(
                f"There are no characters to choose from: {CLASSES} or a {SEQUENCE} is empty"
            )
        text = [random.choice(source) for source, minimum in sources for _ in range(minimum)]
        while len(text) < self.properties[LENGTH]:
            text.append(random.choice(random.choice(sources)[0]))
        random.shuffle(text)
        return "".join(text)

    def _resolve_attribute(self, name: str) -> Any:
        return self.data().get(VALUE)

    def get_reference_id(self) -> str:
        """The text, as soon as there is one."""
        if self.resource_id is None:
            return self.name
        return self.data().get(VALUE, self.name)


def _list_sources(props: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Characters to choose from, with the least number of them."""
    return [
        *((entry[SEQUENCE], entry[MIN]) for entry in props[SEQUENCES]),
        *((CHARACTERS[entry[CLASS]], entry[MIN]) for entry in props[CLASSES]),
    ]
