"""Static labels for secrets: which values may be shown, and which are sealed at rest.

Called by ``StackDefinition``. An expression that refers to a hidden parameter, a hidden attribute
or a hidden property at any depth is hidden as a whole, through every function. The marks follow
the template, never the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import takewhile
from threading import RLock
from typing import Any, Protocol

from zonda.hooks.errors import TemplateError
from zonda.hooks.function import Function, sources
from zonda.hooks.schema.properties import Schema
from zonda.hooks.text.redaction import redact, secret_texts

from ..source.diagnostics import PROPERTY
from ..syntax.resource import ResourceNode

OPEN = "open"
SEALED = "sealed"
HIDDEN = "hidden"
#: The ends of the keys under which a member or its properties stand.
_GIVEN = ("properties", "parameters", "resource_def", "resource")


def find_strictest(levels: Iterable[str]) -> str:
    """Find the strictest of some labels; ``open`` for none."""
    found = OPEN
    for level in levels:  # all of them: what they are found with is kept
        if level != OPEN and found != HIDDEN:
            found = level
    return found


def drop_open(marks: Mapping[str, str]) -> dict[str, str]:
    """Drop the labels that are open."""
    return {key: mark for key, mark in marks.items() if mark != OPEN}


#: The keys behind the name of an attribute; None for an unknown one.
Keys = tuple[str | None, ...]
#: The prefix of the attributes of one member.
_OF_ONE = "resource."


class AttributeLabels(Protocol):
    """The labels of a nested stack, as its owner has attributes."""

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """The label of an attribute (None: of all together), or of the reference.

        ``keys``: what stands behind its name, where that decides what of which member it is.
        """


def split_member_attribute(attribute: str, keys: Keys) -> Iterator[tuple[str, Keys]]:
    """Yield (member, keys read of it) for each meaning of ``resource.X``: names may have dots."""
    rest = attribute[len(_OF_ONE) :]
    yield rest, keys
    member, dot, own = rest.rpartition(".")
    if dot:
        yield member, (own, *keys)


def is_member_attribute(attribute: str | None) -> bool:
    """Whether an attribute of an owner is an attribute of one member."""
    return attribute is not None and attribute.startswith(_OF_ONE)


class SensitivityAnalysis:
    """The labels of one stack. ``parameter`` gives the label of a parameter by name.

    ``below`` gives the marks of the nested stack of a resource.
    ``literal``: the mark of what stands in a generated template as a value, by the property's name
    (None: outside of properties). ``facade``: the mark of what ``resource_facade`` gives. Several
    threads may ask; what asks others (``below``) shares their ``lock``.
    """

    def __init__(
        self,
        resources: Mapping[str, ResourceNode],
        parameter: Callable[[str], str],
        *,
        below: Callable[[ResourceNode, SensitivityAnalysis], AttributeLabels] | None = None,
        literal: Callable[[str | None], str] = lambda key: OPEN,
        facade: str = OPEN,
        lock: AbstractContextManager[Any] | None = None,
    ) -> None:
        self._resources = resources
        self._parameter = parameter
        self._below = below
        self._literal = literal
        self._facade = facade
        # What has been entered and is not found yet counts as open: nobody else may see it then.
        self._lock = lock or RLock()
        self._owned: dict[str, AttributeLabels] = {}
        self._entered: set[str] = set()
        self._known: dict[tuple[str, str], str] = {}
        self._secret_flags: dict[str, bool] = {}
        self._properties: dict[str, dict[str, str]] = {}
        self._attributes: dict[tuple[str, str | None, Keys], str] = {}

    def of(self, tree: Any) -> str:
        """The label of an expression."""
        with self._lock:
            return find_strictest(self._classify_source(source) for source in sources(tree))

    def _classify_source(self, source: Any) -> str:
        if source.kind == "param":
            return self._parameter(source.name)
        if source.kind == "facade":
            return self._facade
        if source.name not in self._resources:
            return OPEN
        if source.kind == "ref":
            return self.classify_reference(source.name)
        if source.kind != "attr":
            return OPEN
        return self.classify_attribute(source.name, source.attribute, source.path)

    def classify_properties(self, name: str) -> dict[str, str]:
        """The label of each property that the template gives to a resource; not to be changed."""
        with self._lock:
            known = self._properties.get(name)
            if known is None:
                known = self._properties[name] = self._classify_properties(name)
            return known

    def _classify_properties(self, name: str) -> dict[str, str]:
        tree = self._resources[name].properties
        if isinstance(tree, Mapping):
            return {key: self._classify_property(name, key) for key in tree}
        return dict.fromkeys(self._resources[name].cls.properties_schema, self.of(tree))

    def classify_keys(self, name: str) -> dict[str, str]:
        """The labels of the values in the properties of a group, by their keys.

        At any depth, the strictest where a key occurs twice: a plug-in hands values on to what it
        generates under the keys that they have. Empty, for all alike, where it hands a secret on
        under others, too.
        """
        found: dict[str, str] = {}
        node = self._resources[name]
        marks = self.classify_properties(name)
        if any(
            marks.get(each, OPEN) != OPEN for each in getattr(node.cls, "renamed_properties", ())
        ):
            return found
        if self._has_secret_names(node.properties):
            return found
        for key, tree in node.properties.items() if isinstance(node.properties, Mapping) else ():
            schema = node.cls.properties_schema.get(key)
            least = HIDDEN if schema is not None and has_hidden_part(schema) else OPEN
            self._collect_keys({key: tree}, least, found)
        return found

    def _collect_keys(self, tree: Any, least: str, found: dict[str, str]) -> None:
        if isinstance(tree, Mapping):
            for key, value in tree.items():
                mark = find_strictest(
                    (found.get(key, OPEN), least, self.of(value), self._literal(key))
                )
                found[key] = mark
                self._collect_keys(value, least, found)
        elif isinstance(tree, list):
            for value in tree:
                self._collect_keys(value, least, found)

    def _has_secret_names(self, tree: Any) -> bool:
        """Whether members get a secret map, whose keys are not known yet."""
        if isinstance(tree, Mapping):
            return any(
                self.of(value) != OPEN
                if isinstance(value, Function) and str(key).lower().endswith(_GIVEN)
                else self._has_secret_names(value)
                for key, value in tree.items()
            )
        return isinstance(tree, list) and any(map(self._has_secret_names, tree))

    def classify_literal(self, key: str) -> str:
        """The label of a literal value in the template, by the property's name."""
        return self._literal(key)

    def find_text_label(self, name: str) -> str:
        """The label of a whole template that stands in the properties of a resource."""
        named = getattr(self._resources[name].cls, "type_properties", None)
        marks = self.classify_properties(name)
        return find_strictest(mark for key, mark in marks.items() if named is None or key in named)

    def classify_facade(self, name: str) -> str:
        """The label of the value of ``resource_facade`` below a resource."""
        node = self._resources[name]
        policies = (node.update_policy, node.deletion_policy)
        return find_strictest((self.classify_metadata(name), *map(self.of, policies)))

    def classify_metadata(self, name: str) -> str:
        """The label of a resource's metadata."""
        tree = self._resources[name].metadata
        return find_strictest((self.of(tree), self._literal(None))) if tree else OPEN

    def classify_reference(self, name: str) -> str:
        """The label of the value of ``get_resource``."""
        with self._lock:
            below = self._load_nested_labels(name)
            if below is not None:
                return below.of(None, reference=True)
            return find_strictest(self._list_repeated_labels(name, None))

    def _load_nested_labels(self, name: str) -> AttributeLabels | None:
        """Load the labels of the nested stack of a resource that owns one."""
        node = self._resources[name]
        if self._below is None or not node.cls.is_nested_stack or name in self._entered:
            return None  # entered: it reads itself, a circle that is refused elsewhere
        known = self._owned.get(name)
        if known is None:
            self._entered.add(name)
            try:
                self._has_secret_property(name)  # what it requires first, without recursion
                known = self._owned[name] = self._below(node, self)
            finally:
                self._entered.discard(name)
        return known

    def is_open(self, name: str) -> bool:
        """Whether every attribute of a resource and its reference are open, as of most types.

        False: each is to be asked about.
        """
        cls = self._resources[name].cls
        if cls.is_nested_stack or any(each.sealed for each in cls.attributes_schema.values()):
            return False
        with self._lock:
            return not self._has_secret_property(name)

    def classify_attribute(self, name: str, attribute: str | None, path: Sequence[Any] = ()) -> str:
        """The label of an attribute, or of all together.

        ``path``: what is read below it, which matters where it is one of a nested stack's members.
        """
        keys = self._find_keys(name, attribute, path) if path else ()
        with self._lock:
            known = self._attributes.get((name, attribute, keys))
            if known is None:
                # Entered first, so that a template inside itself ends here.
                self._attributes[name, attribute, keys] = OPEN
                known = self._classify_attribute(name, attribute, keys)
                self._attributes[name, attribute, keys] = known
            return known

    def _find_keys(self, name: str, attribute: str | None, path: Sequence[Any]) -> Keys:
        """Find the keys in ``path``, where they decide which part of which member is read."""
        cls = self._resources[name].cls
        if not cls.is_nested_stack:
            return ()
        if not (
            is_member_attribute(attribute) or attribute in getattr(cls, "attributes_with_key", ())
        ):
            return ()
        literal = [str(item) for item in takewhile(_is_key, path)]
        return tuple(literal) if len(literal) == len(path) else (*literal, None)

    def _classify_attribute(self, name: str, attribute: str | None, keys: Keys) -> str:
        below = self._load_nested_labels(name)
        if below is not None:
            return below.of(attribute if attribute != "show" else None, keys)
        schema = self._resources[name].cls.attributes_schema
        if attribute is None or attribute == "show":
            own = [self.classify_attribute(name, each) for each in schema]
            return find_strictest((*own, *self.classify_properties(name).values()))
        found = schema.get(attribute)
        if found is not None and found.hidden:
            return HIDDEN
        # A name that a class answers to without declaring it is no more open than those that it
        # declares. What was made with a secret may repeat it in any: only the author knows.
        alike = schema.values() if found is None else (found,)
        is_sealed = any(each.sealed for each in alike) or self._has_secret_property(name)
        sealed = SEALED if is_sealed else OPEN
        return find_strictest((sealed, *self._list_repeated_labels(name, attribute)))

    def _has_secret_property(self, name: str) -> bool:
        """Whether any property of a resource is secret; its requirements are examined first.

        Without recursion: a chain of resources may be longer than Python's stack is deep.
        """
        entered: set[str] = set()
        waiting = [name]
        while name not in self._secret_flags:
            top = waiting[-1]
            entered.add(top)
            before = [each for each in self._resources[top].requires if self._is_new(each, entered)]
            waiting.extend(before)
            if not before:
                waiting.pop()
                marks = self.classify_properties(top).values()
                self._secret_flags[top] = any(mark != OPEN for mark in marks)
        return self._secret_flags[name]

    def _is_new(self, name: str, entered: set[str]) -> bool:
        return name in self._resources and name not in self._secret_flags and name not in entered

    def _list_repeated_labels(self, name: str, attribute: str | None) -> Iterable[str]:
        """List the labels of all that an attribute (None: the reference) repeats."""
        node = self._resources[name]
        repeated = node.cls.exposes_properties.get(attribute, ())
        given = node.properties if isinstance(node.properties, Mapping) else {}
        if attribute is not None and attribute in given:
            yield self._classify_property(name, attribute)
        for other in repeated:
            if other in node.cls.attributes_schema and other != attribute:
                yield self.classify_attribute(name, other)
            if other in given:
                yield self._classify_property(name, other)

    def _classify_property(self, name: str, key: str) -> str:
        known = self._known.get((name, key))
        if known is None:
            # Entered first, so that a ring of references (reported elsewhere) ends here.
            self._known[name, key] = OPEN
            node = self._resources[name]
            schema = node.cls.properties_schema.get(key)
            hidden = schema is not None and has_hidden_part(schema)
            given = self.of(node.properties[key])
            known = HIDDEN if hidden else find_strictest((given, self._literal(key)))
            self._known[name, key] = known
        return known


def _is_key(item: Any) -> bool:
    return isinstance(item, str | int)


def has_hidden_part(schema: Schema) -> bool:
    """Whether a property or anything declared inside it is hidden."""
    if schema.hidden:
        return True
    inner = schema.schema
    if isinstance(inner, Mapping):
        return any(has_hidden_part(child) for child in inner.values())
    return isinstance(inner, Schema) and has_hidden_part(inner)


def find_name_faults(
    node: ResourceNode,
    secrecy: SensitivityAnalysis,
    value_of: Callable[[str], Any],
    secrets: Callable[[], Iterable[Any]],
) -> Iterator[TemplateError]:
    """Find each property of ``node`` that would give its members a secret as their name.

    ``value_of``: the value of a property, as far as it is known. ``secrets``: values that are
    secret, of which no key may hold any.
    """
    for key in getattr(node.cls, "member_names_from", ()):
        if secrecy.classify_properties(node.name).get(key, OPEN) != OPEN:
            tree = node.properties[key] if isinstance(node.properties, Mapping) else None
            if _has_secret_names(
                tree, secrecy, secrecy.classify_literal(key), value_of(key), secrets
            ):
                yield _make_name_fault(node, key)


def _has_secret_names(
    tree: Any,
    secrecy: SensitivityAnalysis,
    literal: str,
    value: Any,
    secrets: Callable[[], Iterable[Any]],
) -> bool:
    if isinstance(tree, Mapping):
        return False
    if isinstance(tree, list):
        return bool(tree) and (literal != OPEN or any(secrecy.of(item) != OPEN for item in tree))
    if isinstance(value, Mapping):
        texts = secret_texts(secrets())
        return any(redact(str(key), texts) != str(key) for key in value)
    return isinstance(value, list | tuple) and bool(value)


def _make_name_fault(node: ResourceNode, key: str) -> TemplateError:
    return TemplateError(
        f"Property {key} would make names of what is secret",
        path=(*node.path, "properties", key),
        label="Property error",
        code=PROPERTY,
        hint="Names are shown everywhere. Spell the keys out in a map, with the secrets as values.",
    )
