"""Static marks for secrets: what may be shown, and what is sealed at rest.

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

from zonda.hooks.function import Function, sources
from zonda.hooks.schema.properties import Schema

from ..syntax.resource import ResourceNode

OPEN = "open"
SEALED = "sealed"
HIDDEN = "hidden"
#: How the keys end under which a member, or what it is given, is described.
_GIVEN = ("properties", "parameters", "resource_def", "resource")


def highest(levels: Iterable[str]) -> str:
    """The strictest of some marks; ``open`` for none."""
    found = OPEN
    for level in levels:  # all of them: what they are found with is kept
        if level != OPEN and found != HIDDEN:
            found = level
    return found


def marked(marks: Mapping[str, str]) -> dict[str, str]:
    """The marks of what is not open."""
    return {key: mark for key, mark in marks.items() if mark != OPEN}


#: What stands behind the name of an attribute; None for what is only known later.
Keys = tuple[str | None, ...]
#: How the attributes begin that are those of one member.
_OF_ONE = "resource."


class AttributeLabels(Protocol):
    """The marks of a nested stack, as its owner has attributes."""

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """The mark of an attribute (None: of all together), or of the reference.

        ``keys``: what stands behind its name, where that decides what of which member it is.
        """


def of_one(attribute: str, keys: Keys) -> Iterator[tuple[str, Keys]]:
    """(member, what is read of it) for all that ``resource.X`` may mean: names may have dots."""
    rest = attribute[len(_OF_ONE) :]
    yield rest, keys
    member, dot, own = rest.rpartition(".")
    if dot:
        yield member, (own, *keys)


def reads_one(attribute: str | None) -> bool:
    """Whether an attribute of an owner is one of a member."""
    return attribute is not None and attribute.startswith(_OF_ONE)


class SensitivityAnalysis:
    """The marks of one stack. ``parameter`` gives the mark of a parameter by name.

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
        self._told: dict[str, bool] = {}
        self._properties: dict[str, dict[str, str]] = {}
        self._attributes: dict[tuple[str, str | None, Keys], str] = {}

    def of(self, tree: Any) -> str:
        """The mark of an expression."""
        with self._lock:
            return highest(self._of_source(source) for source in sources(tree))

    def _of_source(self, source: Any) -> str:
        if source.kind == "param":
            return self._parameter(source.name)
        if source.kind == "facade":
            return self._facade
        if source.name not in self._resources:
            return OPEN
        if source.kind == "ref":
            return self.of_reference(source.name)
        if source.kind != "attr":
            return OPEN
        return self.of_attribute(source.name, source.attribute, source.path)

    def of_properties(self, name: str) -> dict[str, str]:
        """The mark of each property that the template gives to a resource; not to be changed."""
        with self._lock:
            known = self._properties.get(name)
            if known is None:
                known = self._properties[name] = self._found_of_properties(name)
            return known

    def _found_of_properties(self, name: str) -> dict[str, str]:
        tree = self._resources[name].properties
        if isinstance(tree, Mapping):
            return {key: self._of_property(name, key) for key in tree}
        return dict.fromkeys(self._resources[name].cls.properties_schema, self.of(tree))

    def of_keys(self, name: str) -> dict[str, str]:
        """The marks of what stands in the properties of a group, by the key it stands under.

        At any depth, the strictest where a key occurs twice: a plug-in hands values on to what it
        generates under the keys that they have. Empty, for all alike, where it hands a secret on
        under others, too.
        """
        found: dict[str, str] = {}
        node = self._resources[name]
        marks = self.of_properties(name)
        if any(
            marks.get(each, OPEN) != OPEN for each in getattr(node.cls, "renamed_properties", ())
        ):
            return found
        if self._brings_names(node.properties):
            return found
        for key, tree in node.properties.items() if isinstance(node.properties, Mapping) else ():
            schema = node.cls.properties_schema.get(key)
            least = HIDDEN if schema is not None and hides(schema) else OPEN
            self._note_keys({key: tree}, least, found)
        return found

    def _note_keys(self, tree: Any, least: str, found: dict[str, str]) -> None:
        if isinstance(tree, Mapping):
            for key, value in tree.items():
                mark = highest((found.get(key, OPEN), least, self.of(value), self._literal(key)))
                found[key] = mark
                self._note_keys(value, least, found)
        elif isinstance(tree, list):
            for value in tree:
                self._note_keys(value, least, found)

    def _brings_names(self, tree: Any) -> bool:
        """Whether a secret map is what members are given, with names that are only known later."""
        if isinstance(tree, Mapping):
            return any(
                self.of(value) != OPEN
                if isinstance(value, Function) and str(key).lower().endswith(_GIVEN)
                else self._brings_names(value)
                for key, value in tree.items()
            )
        return isinstance(tree, list) and any(map(self._brings_names, tree))

    def of_literal(self, key: str) -> str:
        """The mark of what stands in the template as a value, under a property's name."""
        return self._literal(key)

    def of_text(self, name: str) -> str:
        """The mark of a whole template that stands in the properties of a resource."""
        named = getattr(self._resources[name].cls, "type_properties", None)
        marks = self.of_properties(name)
        return highest(mark for key, mark in marks.items() if named is None or key in named)

    def of_facade(self, name: str) -> str:
        """The mark of what ``resource_facade`` gives below a resource."""
        node = self._resources[name]
        policies = (node.update_policy, node.deletion_policy)
        return highest((self.of_metadata(name), *map(self.of, policies)))

    def of_metadata(self, name: str) -> str:
        """The mark of a resource's metadata."""
        tree = self._resources[name].metadata
        return highest((self.of(tree), self._literal(None))) if tree else OPEN

    def of_reference(self, name: str) -> str:
        """The mark of what ``get_resource`` gives."""
        with self._lock:
            below = self._inside(name)
            if below is not None:
                return below.of(None, reference=True)
            return highest(self._revealed(name, None))

    def _inside(self, name: str) -> AttributeLabels | None:
        """The marks of the nested stack of a resource that owns one."""
        node = self._resources[name]
        if self._below is None or not node.cls.is_nested_stack or name in self._entered:
            return None  # entered: it reads itself, a circle that is refused elsewhere
        known = self._owned.get(name)
        if known is None:
            self._entered.add(name)
            try:
                self._is_told_secrets(name)  # what it requires first, without recursion
                known = self._owned[name] = self._below(node, self)
            finally:
                self._entered.discard(name)
        return known

    def of_attribute(self, name: str, attribute: str | None, path: Sequence[Any] = ()) -> str:
        """The mark of an attribute, or of all together.

        ``path``: what is read below it, which matters where it is one of a nested stack's members.
        """
        keys = self._keys(name, attribute, path) if path else ()
        with self._lock:
            known = self._attributes.get((name, attribute, keys))
            if known is None:
                # Entered first, so that a template inside itself ends here.
                self._attributes[name, attribute, keys] = OPEN
                known = self._found_of_attribute(name, attribute, keys)
                self._attributes[name, attribute, keys] = known
            return known

    def _keys(self, name: str, attribute: str | None, path: Sequence[Any]) -> Keys:
        """``path``, where it decides what of which member is read."""
        cls = self._resources[name].cls
        if not cls.is_nested_stack:
            return ()
        if not (reads_one(attribute) or attribute in getattr(cls, "attributes_with_key", ())):
            return ()
        literal = [str(item) for item in takewhile(_is_key, path)]
        return tuple(literal) if len(literal) == len(path) else (*literal, None)

    def _found_of_attribute(self, name: str, attribute: str | None, keys: Keys) -> str:
        below = self._inside(name)
        if below is not None:
            return below.of(attribute if attribute != "show" else None, keys)
        schema = self._resources[name].cls.attributes_schema
        if attribute is None or attribute == "show":
            own = [self.of_attribute(name, each) for each in schema]
            return highest((*own, *self.of_properties(name).values()))
        found = schema.get(attribute)
        if found is not None and found.hidden:
            return HIDDEN
        # A name that a class answers to without declaring it is no more open than those that it
        # declares. What was made with a secret may repeat it in any: only the author knows.
        alike = schema.values() if found is None else (found,)
        is_sealed = any(each.sealed for each in alike) or self._is_told_secrets(name)
        sealed = SEALED if is_sealed else OPEN
        return highest((sealed, *self._revealed(name, attribute)))

    def _is_told_secrets(self, name: str) -> bool:
        """Whether any property of a resource is marked; what it requires is looked at first.

        Without recursion: a chain of resources may be longer than Python's stack is deep.
        """
        entered: set[str] = set()
        waiting = [name]
        while name not in self._told:
            top = waiting[-1]
            entered.add(top)
            before = [each for each in self._resources[top].requires if self._is_new(each, entered)]
            waiting.extend(before)
            if not before:
                waiting.pop()
                marks = self.of_properties(top).values()
                self._told[top] = any(mark != OPEN for mark in marks)
        return self._told[name]

    def _is_new(self, name: str, entered: set[str]) -> bool:
        return name in self._resources and name not in self._told and name not in entered

    def _revealed(self, name: str, attribute: str | None) -> Iterable[str]:
        """The marks of all that an attribute (None: the reference) repeats."""
        node = self._resources[name]
        repeated = node.cls.exposes_properties.get(attribute, ())
        given = node.properties if isinstance(node.properties, Mapping) else {}
        if attribute is not None and attribute in given:
            yield self._of_property(name, attribute)
        for other in repeated:
            if other in node.cls.attributes_schema and other != attribute:
                yield self.of_attribute(name, other)
            if other in given:
                yield self._of_property(name, other)

    def _of_property(self, name: str, key: str) -> str:
        known = self._known.get((name, key))
        if known is None:
            # Entered first, so that a ring of references (reported elsewhere) ends here.
            self._known[name, key] = OPEN
            node = self._resources[name]
            schema = node.cls.properties_schema.get(key)
            hidden = schema is not None and hides(schema)
            given = self.of(node.properties[key])
            known = HIDDEN if hidden else highest((given, self._literal(key)))
            self._known[name, key] = known
        return known


def _is_key(item: Any) -> bool:
    return isinstance(item, str | int)


def hides(schema: Schema) -> bool:
    """Whether a property or anything declared inside it is hidden."""
    if schema.hidden:
        return True
    inner = schema.schema
    if isinstance(inner, Mapping):
        return any(hides(child) for child in inner.values())
    return isinstance(inner, Schema) and hides(inner)
