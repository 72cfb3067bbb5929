"""Stored templates: whole bundles of root stacks; nested ones with their base.

Called by whoever shows, compares or explains what a stack was made from. Reads only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import yaml

from zonda.core.store.read.reader import Reader
from zonda.core.template import redaction
from zonda.core.template.definition.child_spec import LITERALS, ChildSpec
from zonda.core.template.load import StackDefinition
from zonda.core.template.source.bundle import Bundle, Identity, to_display_name
from zonda.hooks import records
from zonda.hooks.records import dataclass

from ..model.documents import MASK
from .definitions import parse_bundle

#: Makes the definition of a bundle without checking its resources; types may be missing.
Reading = Callable[[Bundle, Identity], StackDefinition]
#: The name of a generated template, which stands in no file.
GENERATED = "generated"
#: The places of values in resources of generated templates.
_VALUES = ("properties", "metadata", "update_policy")


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored data of a template. ``base``: the bundle of the stack at the top.

    ``spec``: what a nested template is made from, None for one at the top.
    """

    base: Bundle
    base_id: str
    spec: ChildSpec | None = None

    @property
    def file(self) -> str:
        """The file of the template, as people know it; ``generated`` where there is none."""
        if self.spec is None:
            return self.base.template_file
        return GENERATED if self.spec.file is None else to_display_name(self.spec.file)

    @property
    def has_file(self) -> bool:
        """Whether places in its text are places in a file."""
        return self.spec is None or self.spec.file is not None

    @property
    def hides_literals(self) -> bool:
        """Whether the values in its resources come from something secret."""
        return self.spec is not None and LITERALS in self.spec.marks

    @property
    def bundle(self) -> Bundle:
        """The template with all of its files, as if it were at the top."""
        if self.spec is None:
            return self.base
        parameters = dict(self.spec.parameters)
        return records.replace(
            self.base, template=self.text, template_file=self.file, parameters=parameters
        )

    @property
    def bundle_without_texts(self) -> Bundle:
        """The bundle without any text, file and environment, for who asks what it means only."""
        parameters = self.base.parameters if self.spec is None else dict(self.spec.parameters)
        return Bundle(template="", template_file=self.file, parameters=parameters)

    @property
    def text(self) -> str:
        """The text of the template; of a generated one as it would be written."""
        spec = self.spec
        if spec is None:
            return self.base.template
        if spec.file is not None:
            return self.base.files.get(spec.file, "")
        if spec.text is not None:
            return spec.text
        return _format_template(spec.template)

    def mask(self) -> Stored:
        """The same without secret values in a generated template."""
        spec = self.spec
        if spec is None or not self.hides_literals or spec.template is None:
            return self
        template = {
            **spec.template,
            "resources": _mask_values(spec.template.get("resources") or {}),
        }
        return records.replace(self, spec=records.replace(spec, template=template))


class Templates:
    """Stored templates and their definitions; the base of several nested ones is read once."""

    def __init__(self, reader: Reader, read: Reading) -> None:
        self._reader = reader
        self._read = read
        self._roots: dict[str, StackDefinition] = {}
        self._above: dict[str, list[Any]] = {}
        self._bases: dict[str, Bundle] = {}

    def read_stored(self, template_id: str) -> Stored:
        """A template as it is stored; raises NotFound."""
        return read_stored(self._reader, template_id, self._bases)

    def definition(self, found: Stored, identity: Identity) -> StackDefinition:
        """Its definition; raises ValidationErrors."""
        root = self._roots.get(found.base_id)
        if root is None:
            root = self._roots[found.base_id] = self._read(
                found.base, self._find_root(found.base_id)
            )
        return root if found.spec is None else root.family.load(found.spec, identity)

    def _find_root(self, base_id: str) -> Identity:
        """The stack at the top of a tree."""
        stack = self._reader.stack_row(self._reader.template(base_id).stack_id)
        return Identity(stack.id, stack.name, stack.project)

    def list_hidden_above(self, found: Stored) -> list[Any]:
        """The hidden values of the root template that a nested one may repeat, read once."""
        root = self._roots.get(found.base_id)
        if root is None or found.spec is None:
            return []
        if found.base_id not in self._above:
            hidden = redaction.find_secrets(found.base, root)
            self._above[found.base_id] = redaction.list_searchable_secrets(hidden)
        return self._above[found.base_id]


def read_stored(reader: Reader, template_id: str, bases: dict[str, Bundle] | None = None) -> Stored:
    """A template as it is stored; raises NotFound. ``bases``: bundles that were read already."""
    view = reader.template(template_id)
    if view.base_id is None:
        return Stored(parse_bundle(view.body), view.id)
    known = {} if bases is None else bases
    if view.base_id not in known:
        known[view.base_id] = parse_bundle(reader.template(view.base_id).body)
    spec = ChildSpec.from_json(view.body["spec"])
    return Stored(known[view.base_id], view.base_id, spec)


def _format_template(template: Any) -> str:
    """A template that was generated, as text; JSON values only."""
    plain = json.loads(json.dumps(template, default=str))
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, default_flow_style=False)


def _mask_values(resources: Any) -> dict[str, Any]:
    return {
        name: {
            key: dict.fromkeys(value, MASK) if key in _VALUES and isinstance(value, dict) else value
            for key, value in entry.items()
        }
        for name, entry in resources.items()
    }
