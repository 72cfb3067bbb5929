"""Intrinsic functions: what a plug-in implements to add one, and how a parsed tree is walked.

A parsed tree is plain dicts, lists and scalars with ``Function`` objects where the template
calls one. The same tree validates, tells what it reads (``sources``) and resolves; it is bound
to no stack, so one tree serves validation (attributes are null), planning and every operation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Protocol

from .errors import Path, TemplateError, show_path
from .records import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """One thing that an expression reads.

    ``kind`` is ``param``, ``attr``, ``ref``, ``file``, ``condition`` or ``facade``; ``name`` the
    parameter, resource, file or condition. For ``attr``, ``attribute`` is the attribute's name and
    ``path`` what follows it (None as attribute: every attribute of the resource). It ends with
    something that is neither text nor a number where the rest is only known later.
    """

    kind: str
    name: str
    attribute: str | None = None
    path: tuple[Any, ...] = ()


class Spending(Protocol):
    """The budget of functions, so that no template makes values without end."""

    def spend(self, values: int) -> None:
        """Count ``values`` that were made or walked through; raises where they are too many.

        ``resolve`` counts every result. A function that makes much more than it gives back, or
        long texts in many steps, counts them itself: 16 characters are one value.
        """


class ParseScope(Spending, Protocol):
    """The services for a function while it is parsed: no values of resources exist yet."""

    @property
    def version(self) -> str:
        """The template version as a date, e.g. ``2018-08-31``."""

    def parse(self, value: Any, path: Path) -> Any:
        """The parsed tree of ``value``, which stands at ``path`` in the document."""

    def condition(self, value: Any, path: Path) -> bool:
        """The truth of a condition name, boolean or inline condition function."""

    def parameter(self, name: str) -> Any:
        """The value of a parameter or pseudo parameter; raises UserParameterMissing."""


class ResolveScope(Spending, Protocol):
    """The services for a function while it is resolved: the values."""

    def parameter(self, name: str) -> Any:
        """The value of a parameter or pseudo parameter."""

    def condition(self, name: str) -> bool:
        """The truth of a named condition."""

    def file(self, key: str) -> str:
        """The text of an attached file; raises TemplateError where there is none."""

    def reference(self, resource: str, path: Path) -> Any:
        """The reference of a resource (``get_resource``); raises UnknownReference."""

    def attribute(self, resource: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """An attribute's value below ``rest`` (None: a map of all). Null before creation."""

    def facade(self, kind: str) -> Any:
        """A part of the resource that this template provides; raises in a root stack."""

    def yaql(self, expression: str, data: Any) -> Any:
        """The value of a yaql expression on ``data``, within the configured limits."""


class Function(ABC):
    """One call of an intrinsic function, parsed.

    The constructor receives the raw argument and the path at which the call stands, its name
    included. It parses what it needs with ``scope.parse`` and raises ``TemplateError`` (path
    relative to the call: the caller adds its own), ``TypeError``, ``ValueError`` or ``KeyError``
    for a wrong shape.
    """

    __slots__ = ("args", "name", "path")

    #: Nothing in the arguments may be another function, e.g. for ``get_file`` keys.
    literal: ClassVar[bool] = False

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        self.name = name
        self.path = path
        self.args = scope.parse(args, path)

    def validate(self, scope: ResolveScope) -> Iterator[Exception]:
        """Faults that show without values; the arguments are looked into first.

        A TemplateError without a path gets that of the call.
        """
        yield from validate(self.args, scope)

    def sources(self) -> Iterator[Source]:
        """The sources that this call reads, its arguments included."""
        yield from sources(self.args)

    @abstractmethod
    def resolve(self, scope: ResolveScope) -> Any:
        """The value.

        Raises ``TemplateError``, ``TypeError``, ``ValueError`` or ``KeyError`` with Heat's text;
        the caller says where.
        """


class Absent:
    """The value of a two-argument ``if`` whose condition is false: the item disappears."""

    _instance: ClassVar[Absent | None] = None

    def __new__(cls) -> Absent:
        """The one instance."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()

#: So many characters of text count as one value.
TEXT_PER_VALUE = 16

_CONTAINERS = frozenset((dict, list, set))
_SCALARS = frozenset((str, int, float, bool, type(None)))


def resolve(tree: Any, scope: ResolveScope) -> Any:
    """``tree`` with every function replaced by its value; absent items are dropped.

    What is walked through and what functions give is counted (``Spending``).
    """
    kind = type(tree)
    if kind in _SCALARS:
        return tree
    if isinstance(tree, dict):
        scope.spend(len(tree))
        pairs = {}
        for key, value in tree.items():
            if type(value) in _SCALARS or (value := resolve(value, scope)) is not ABSENT:
                pairs[key] = value
        return pairs
    if isinstance(tree, list):
        scope.spend(len(tree))
        values = []
        for value in tree:
            if type(value) in _SCALARS or (value := resolve(value, scope)) is not ABSENT:
                values.append(value)
        return values
    if isinstance(tree, Function):
        value = tree.resolve(scope)
        count(value, scope)
        return value
    return tree


def count(value: Any, scope: Spending) -> None:
    """Spend as much as there is in ``value``, as ``resolve`` does for each result."""
    kind = type(value)
    if kind is str:
        if len(value) > TEXT_PER_VALUE:
            scope.spend(len(value) // TEXT_PER_VALUE)
    elif kind in _CONTAINERS:
        inside: list[Any] = [value]
        for container in inside:  # it grows meanwhile
            items, text = container, 0
            if type(container) is dict:
                text = _count_text(container)
                items = container.values()
            for item in items:
                kind = type(item)
                if kind is str:
                    text += len(item)
                elif kind in _CONTAINERS:
                    inside.append(item)
            scope.spend(len(container) + text // TEXT_PER_VALUE)


def _count_text(keys: Iterable[Any]) -> int:
    """The number of characters in some keys."""
    try:
        return len("".join(keys))
    except TypeError:
        return sum(len(key) for key in keys if type(key) is str)


def resolve_value(tree: Any, scope: ResolveScope) -> Any:
    """Like ``resolve``, for a whole value: null where it is absent."""
    value = resolve(tree, scope)
    return None if value is ABSENT else value


def sources(tree: Any) -> Iterator[Source]:
    """The sources that ``tree`` reads."""
    # Plain data first: asking an abstract class for its instances is ten times slower.
    kind = type(tree)
    if kind is dict or kind is list:
        for value in tree.values() if kind is dict else tree:
            if type(value) not in _SCALARS:
                yield from sources(value)
    elif kind not in _SCALARS and isinstance(tree, Function):
        yield from tree.sources()


def validate(tree: Any, scope: ResolveScope) -> Iterator[Exception]:
    """Every static fault of the functions in ``tree``, at the path of the outermost call."""
    kind = type(tree)
    if kind is dict or kind is list:
        for value in tree.values() if kind is dict else tree:
            if type(value) not in _SCALARS:
                yield from validate(value, scope)
    elif kind not in _SCALARS and isinstance(tree, Function):
        for error in tree.validate(scope):
            yield _locate_error(error, tree)


def _locate_error(error: Exception, call: Function) -> Exception:
    """``error`` at the path of ``call``; what lies below stands in the sentence, as in Heat."""
    if isinstance(error, TemplateError) and error.label:
        return error
    inner = error.path[len(call.path) :] if isinstance(error, TemplateError) else ()
    message = error.message if isinstance(error, TemplateError) else str(error)
    located = TemplateError(
        f"{show_path(inner)}: {message}" if inner else message,
        path=call.path,
        at=error.at if isinstance(error, TemplateError) and error.at else call.path,
        code=getattr(error, "code", None),
        hint=error.hint if isinstance(error, TemplateError) else "",
    )
    located.__cause__ = error
    return located
