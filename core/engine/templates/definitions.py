"""The one place where the engine meets templates: loads definitions and keeps the recent ones.

Everything else of the engine knows the protocols of ``definition``. ``Definitions``
is shared by the threads of the pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, RLock
from typing import Any

from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.definition.child_spec import ChildSpec
from zonda.core.template.definition.fingerprint import format_canonical
from zonda.core.template.environment.drift_section import DRIFT
from zonda.core.template.environment.policies import Policies, build_policies
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks import records
from zonda.hooks.errors import PluginError
from zonda.hooks.hashes import blake2b
from zonda.hooks.lazy import Names
from zonda.hooks.resources.resource import Resource

from ..model.definition import Definition, Loading, ResourceClass
from ..model.states import MAKING
from .cache import DefinitionCache

#: In front of the name of the type that a simulated resource stands for.
SIMULATED = "simulated:"
#: The weight of a resource besides its text, in characters.
_PER_RESOURCE = 1000


class Definitions:
    """Definitions by template id; the last ones used are kept."""

    def __init__(
        self,
        loading: Loading,
        resource_types: Mapping[str, type[Resource]],
        reader: Callable[[], Reader],
        origins: Mapping[tuple[str, str], object] | None = None,
    ) -> None:
        self.load = loading
        self._types = resource_types
        self._origins = origins or {}
        self._names = Names(resource_types)
        self.make_reader = reader
        self._kept: DefinitionCache[Definition] = DefinitionCache()
        # By template: who loads it, and how many threads do or wait for it.
        self._turns: dict[str, tuple[Any, int]] = {}
        self._guard = Lock()

    @property
    def reader(self) -> Reader:
        """The reader of the pool."""
        return self.make_reader()

    def get(self, template_id: str, documents: Mapping[str, Any] | None = None) -> Definition:
        """The definition behind a stored template.

        ``documents``: what has been read of texts that may be the same, by file.
        """
        known = self._kept.get(template_id)
        if known is not None:
            return known
        with self._lock_template(template_id):
            return self._kept.peek(template_id) or self._load_stored(template_id, documents)

    @contextmanager
    def _lock_template(self, template_id: str) -> Iterator[None]:
        """One thread at a time loads a template; the others have what it has loaded."""
        with self._guard:
            lock, waiting = self._turns.get(template_id, (RLock(), 0))
            self._turns[template_id] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, waiting = self._turns.pop(template_id)
                if waiting > 1:
                    self._turns[template_id] = lock, waiting - 1

    def _load_stored(
        self, template_id: str, documents: Mapping[str, Any] | None = None
    ) -> Definition:
        reader = self.reader
        view = reader.template(template_id)
        stack = reader.stack_row(view.stack_id)
        identity = Identity(stack.id, stack.name, stack.project)
        definition: Definition
        if view.base_id is None:
            bundle = records.replace(parse_bundle(view.body), documents=documents or {})
            definition = self.load(bundle, identity, None, False)
        else:
            family = self.get(view.base_id).family
            definition = family.load(_parse_spec(view.body), identity, None, False)
        self.keep(template_id, definition, view.base_id)
        return definition

    def read_spec(self, template_id: str) -> Any:
        """The spec of a nested stack, by its template, which is not loaded for that."""
        known = self._kept.peek(template_id)
        return _parse_spec(self.reader.template(template_id).body) if known is None else known.spec

    def find_base(self, template_id: str) -> str:
        """The template with the files that a template uses: its own id, if it is not nested."""
        known = self._kept.find_base(template_id)
        if known is None:
            known = self.reader.template(template_id).base_id or template_id
            self._kept.set_base(template_id, known)
        return known

    def keep(self, template_id: str, definition: Definition, base_id: str | None = None) -> None:
        """Remember a definition that was just loaded; ``base_id``: its base template."""
        if base_id is None:
            self._kept.put(template_id, definition, _compute_weights(definition))
        else:
            self._kept.put_nested(template_id, definition, base_id)

    def class_type(self, cls: ResourceClass) -> str:
        """The registered name of a class; '' for a type from a template.

        What was made of a text is known by what the text calls it, wherever that comes from.
        """
        if cls.simulates:
            return f"{SIMULATED}{cls.simulates}"
        if cls.declared_by is not None:
            return cls.declared_by.class_type
        return self._names.of(cls)

    def identity(self, cls: ResourceClass | None, kind: str) -> str:
        """The class, its version and its schema: for comparing, and for people."""
        if cls is None:
            return "nothing"
        origin = self._origins.get(("resource type", self.class_type(cls) or kind), "")
        schema = {name: each.to_dict() for name, each in cls.properties_schema.items()}
        text = format_canonical([f"{cls.__module__}.{cls.__qualname__}", schema])
        digest = blake2b(text.encode(), digest_size=4).hexdigest()
        return f"{cls.__name__} of {_format_version(origin) or 'the template'}, schema {digest}"

    def is_nested_stack(self, row: ResourceRow) -> bool:
        """Whether the physical side of an instance that was begun is a nested stack.

        Reads and loads nothing. What no plug-in brings is a class that a template stands for.
        """
        found = self._types.get(row.class_type)
        return not row.class_type if found is None else found.is_nested_stack

    def is_inward(self, row: ResourceRow) -> bool:
        """Whether an instance is of a registered type that does nothing outside zonda."""
        return self.is_inward_type(row.class_type)

    def is_inward_type(self, class_type: str) -> bool:
        """Whether a registered type does nothing outside zonda."""
        found = self._types.get(class_type)
        return found is not None and not (found.has_side_effects or found.is_nested_stack)

    def class_of(self, row: ResourceRow) -> type[Resource]:
        """The class of an instance that exists."""
        found = self._types.get(row.class_type)
        if found is not None:
            return found
        template_id = row.have_template_id or row.op_template_id or row.want_template_id
        if (
            row.class_type and row.op in MAKING
        ):  # a type made of a text, maybe of another one by now
            template_id = row.op_template_id or template_id
        if template_id is not None:
            node = self.get(template_id).resources.get(row.name)
            if node is not None:
                cls: type[Resource] = node.cls
                return cls
        raise PluginError(
            f"No plug-in brings the type {row.type} of the resource {row.name}.",
            plugin=row.type,
        )


def _parse_spec(body: Mapping[str, Any]) -> ChildSpec:
    return ChildSpec.from_json(body["spec"])


def read_policies(definition: Definition) -> Policies:
    """The policies of the environment: limits, retries, protection and breakpoints."""
    return build_policies(definition.environment.own, definition.registry.breakpoints)


def read_drift_section(definition: Definition) -> Mapping[str, Any]:
    """The drift section of the environment."""
    said: Mapping[str, Any] = definition.environment.own.get(DRIFT, {})
    return said


def _compute_weights(definition: Definition) -> dict[int, int]:
    """The sizes of the parts of the definition of a whole stack, by their ids."""
    texts = {id(text): len(text) for text in definition.family.texts}
    return {id(definition): len(definition.resources) * _PER_RESOURCE, **texts}


def _format_version(origin: object) -> str:
    version = getattr(origin, "version", "")
    name = str(getattr(origin, "plugin", origin))
    return f"{name} {version}".strip()


def parse_bundle(body: Mapping[str, Any]) -> Bundle:
    """The bundle behind the body of a stored template."""
    return Bundle.from_json(body)


def format_bundle(bundle: Bundle) -> dict[str, Any]:
    """The stored form of a bundle."""
    return bundle.to_json()
