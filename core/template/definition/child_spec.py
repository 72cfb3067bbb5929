"""The input of one nested stack: everything that the files of its root do not say.

Made by ``StackDefinition.child_spec`` for the resource that owns the stack, kept by the store as
JSON, read by ``TemplateTree.load``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.records import dataclass, field

#: The key of ``marks`` for whatever stands in a generated template as a value; with a dot and a
#: property's name behind it, for the values of that property.
LITERALS = "*"
#: The key of ``marks`` for what ``resource_facade`` gives.
FACADE = "*facade"


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """The template of a nested stack, its parameters and its place in the tree.

    ``file``: a key of the root's files; or ``template``: a generated template as data, in which the
    properties, metadata and update policies of resources are values and never functions; or
    ``text``: a template that came as a value.
    ``document``: the template file whose links say what names of files mean. ``marks``: parameters
    that are ``sealed`` or ``hidden`` because of where their values come from; ``LITERALS`` and
    ``FACADE`` are more keys. ``names``: the resources from the root to the owner. ``without``: the
    entries of the registry that led here, which do not count below. ``facade``: the owner's
    metadata, deletion_policy and update_policy.
    """

    file: str | None
    template: Mapping[str, Any] | None
    document: str
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    marks: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    facade: Mapping[str, Any] = field(default_factory=dict, repr=False)
    text: str | None = field(default=None, repr=False)

    @property
    def depth(self) -> int:
        """1 for a child of the root."""
        return len(self.names)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that ``from_json`` reads. Holds secrets where ``marks`` is not empty."""
        return {
            "file": self.file,
            "template": self.template,
            "document": self.document,
            "parameters": dict(self.parameters),
            "marks": dict(self.marks),
            "names": list(self.names),
            "without": list(self.without),
            "facade": dict(self.facade),
            "text": self.text,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ChildSpec:
        """The spec from a JSON object of ``to_json``."""
        lists = {key: tuple(data[key]) for key in ("names", "without")}
        return cls(**{**data, **lists})
