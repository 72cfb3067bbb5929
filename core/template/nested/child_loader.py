"""Load a nested template: as a root, but with the files that its tree has read already.

Called by ``TemplateTree`` only.
"""

from __future__ import annotations

from zonda.hooks.errors import TemplateError

from ..definition.child_spec import ChildSpec
from ..definition.loader import Loader
from ..sensitivity.labels import HIDDEN
from ..source.bundle import Identity, to_display_name
from ..source.document import Document, load_document
from .signatures import SharedTree


class ChildLoader(Loader):
    """Loads one nested template.

    ``unknown``: parameters whose values are only known once other resources are there.
    """

    document_stage = TemplateError.stage

    def __init__(
        self,
        shared: SharedTree,
        spec: ChildSpec,
        identity: Identity,
        unknown: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(shared.load_context, identity)
        self._shared = shared
        self._spec = spec
        self.linked_by = spec.document
        self.facade = spec.facade
        self.is_literal = spec.template is not None
        self.provides_type = spec.file is not None
        hidden = (name for name, mark in spec.marks.items() if mark == HIDDEN)
        self.parameters.hidden_by_origin = frozenset(hidden)
        self.parameters.unknown = unknown

    def _load_document(self) -> Document:
        if self._spec.file is not None:
            return self._shared.document(self._spec.file)
        if self._spec.text is not None:
            most = self.limits.max_template_bytes
            is_file = (
                self._shared.load_context.bundle.files.get(self._spec.document) == self._spec.text
            )
            file = to_display_name(self._spec.document) if is_file else ""
            document = load_document(self._spec.text, file, max_bytes=most)
            return document if is_file else Document("", "", document.written)
        return Document("", "", self._spec.template)

    def _read_environment(self) -> bool:
        self.environment = self._shared.environment.derive_nested(self._spec.parameters)
        self.registry = self._shared.build_registry(self._shared.level(self._spec))
        return True

    def _check_stack_name(self) -> None:
        """Skip the check: the names of nested stacks are made from those of their owners."""
