"""The contexts in which yaql looks up values and functions, fast for many thousands of calls.

Used by ``engine``. yaql asks every context on the way to the library for a function's
overloads, tries each against the arguments, and does so anew for each element of a list. Here the
overloads of a name are gathered once, and the few functions that most calls are of are answered at
once, where only one overload can be meant. What an expression defines for itself (``def``) turns
all of that off for the rest of its evaluation: from then on yaql does everything as it always does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import eq, ne
from typing import Any

from yaql.language import contexts, exceptions, expressions, runner, utils

from .data import FROZEN_MAPS
from .limits import Work

#: Stands for a call that is no quick one.
_NOT_QUICK = object()

_Quick = Callable[["Frame", Any, tuple[Any, ...]], Any]


class Library:
    """The functions of all evaluations; ``context`` is complete and not changed any more."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.overloads = cache(self._collect_overloads)

    def _collect_overloads(self, name: str, is_method: bool, use_convention: bool) -> Any:
        def fits(function: Any, context: Any) -> bool:
            return bool(function.is_method if is_method else function.is_function)

        return self.context.collect_functions(name, fits, use_convention=use_convention)


class Evaluation:
    """The state that the frames of one evaluation share. ``is_plain``: it defines no functions."""

    __slots__ = ("is_plain", "library", "work")

    def __init__(self, library: Library, work: Work) -> None:
        self.library = library
        self.work = work
        self.is_plain = True

    def build_frame(self) -> Frame:
        """Build the outermost frame."""
        return Frame(self.library.context, self)


class Frame(contexts.Context):  # type: ignore[misc]
    """A context of one evaluation: values, and rarely functions."""

    def __init__(self, parent: Any, evaluation: Evaluation | None = None) -> None:
        self._parent_context = parent
        self._convention = parent.convention
        self._data: dict[str, Any] = {}
        self._functions: Mapping[str, set[Any]] = _NO_FUNCTIONS
        self._exclusive_funcs: frozenset[str] | set[str] = _NO_NAMES
        self._evaluation: Evaluation = evaluation or parent._evaluation

    def register_function(self, spec: Any, *args: Any, **kwargs: Any) -> None:
        """Register a function that the expression defines."""
        self._evaluation.is_plain = False
        if self._functions is _NO_FUNCTIONS:
            self._functions, self._exclusive_funcs = {}, set()
        super().register_function(spec, *args, **kwargs)

    def collect_functions(
        self, name: str, predicate: Any = None, use_convention: bool = False
    ) -> Any:
        """The overloads of a name, in layers; no layer is a frame's where nothing was defined."""
        if self._evaluation.is_plain:
            library = self._evaluation.library.context
            return library.collect_functions(name, predicate, use_convention=use_convention)
        return super().collect_functions(name, predicate, use_convention=use_convention)

    def __call__(
        self,
        name: str,
        engine: Any,
        receiver: Any = utils.NO_VALUE,
        data_context: Any = None,
        use_convention: bool = False,
        function_filter: Any = None,
    ) -> Callable[..., Any]:
        """A function that calls the overload of ``name`` that its arguments mean."""
        if function_filter is not None or not self._evaluation.is_plain:
            slow: Callable[..., Any] = super().__call__(
                name, engine, receiver, data_context, use_convention, function_filter
            )
            return self._evaluation.work.count_values(slow)
        frame = self if data_context is None else data_context

        def call(*args: Any, **kwargs: Any) -> Any:
            result = _NOT_QUICK
            if not kwargs and isinstance(frame, Frame):
                result = _call_quickly(name, frame, engine, receiver, args)
            if result is _NOT_QUICK:
                found = self._evaluation.library.overloads(
                    name, receiver is not utils.NO_VALUE, use_convention
                )
                result = _call_overload(name, found, frame, engine, receiver, args, kwargs)
                if name not in _PASSING_ON:
                    self._evaluation.work.count(result)
            self._evaluation.work.step()
            utils.limit_memory_usage(engine, (1, result))
            return result

        return call


_CONSTANTS = (expressions.Constant, expressions.KeywordConstant)
#: Functions that give what was there already, or what another call has given.
_PASSING_ON = frozenset(
    (
        "#indexer",
        "#operator_->",
        "#operator_.",
        "#operator_?.",
        "coalesce",
        "first",
        "get",
        "last",
        "switch",
    )
)
_NO_FUNCTIONS: Mapping[str, set[Any]] = {}
_NO_NAMES: frozenset[str] = frozenset()


def _call_overload(
    name: str,
    overloads: Any,
    frame: Any,
    engine: Any,
    receiver: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call the overload that yaql chooses; return its result."""
    if not overloads:
        if receiver is utils.NO_VALUE:
            raise exceptions.NoFunctionRegisteredException(name)
        raise exceptions.NoMethodRegisteredException(name, receiver)
    chosen = runner.choose_overload(name, overloads, engine, receiver, frame, args, kwargs)
    try:
        return chosen()
    except StopIteration as error:
        raise exceptions.WrappedException(error) from error


def _call_quickly(
    name: str, frame: Frame, engine: Any, receiver: Any, args: tuple[Any, ...]
) -> Any:
    if receiver is not utils.NO_VALUE:
        return _get_key(receiver, args) if name == "get" else _NOT_QUICK
    quick = _QUICK.get(name)
    return _NOT_QUICK if quick is None else quick(frame, engine, args)


def _evaluate_argument(tree: Any, frame: Frame, engine: Any) -> Any:
    """Evaluate an argument, as for a function that is not lazy."""
    if isinstance(tree, expressions.Constant):
        return tree.value
    if isinstance(tree, expressions.Expression):
        return tree(utils.NO_VALUE, frame, engine)
    return tree


def _read_variable(frame: Frame, engine: Any, args: tuple[Any, ...]) -> Any:
    """Read ``$`` or ``$name``."""
    (path,) = args
    return frame.get_data(path.value) if type(path) is expressions.Constant else _NOT_QUICK


def _make_comparison(compare: Callable[[Any, Any], Any]) -> _Quick:
    """Make the operator ``=`` or ``!=``, which has one overload for everything."""

    def quick(frame: Frame, engine: Any, args: tuple[Any, ...]) -> Any:
        if len(args) != 2 or _has_name(args):
            return _NOT_QUICK
        left, right = (_evaluate_argument(each, frame, engine) for each in args)
        engine.work.compare(left, right)
        return compare(left, right)

    return quick


def _call_method(frame: Frame, engine: Any, args: tuple[Any, ...]) -> Any:
    """Call ``value.method(...)``: no overload for ``value.key`` can be meant."""
    receiver, method = args
    if type(method) is not expressions.Function or _has_name(args):
        return _NOT_QUICK
    return method(_evaluate_argument(receiver, frame, engine), frame.create_child_context(), engine)


def _get_key(receiver: Any, args: tuple[Any, ...]) -> Any:
    """Get ``map.get(key)`` with a literal key."""
    if type(receiver) in FROZEN_MAPS and len(args) == 1 and type(args[0]) in _CONSTANTS:
        return receiver.get(args[0].value)
    return _NOT_QUICK


def _has_name(args: tuple[Any, ...]) -> bool:
    """Whether an argument is given by its name."""
    return expressions.MappingRuleExpression in map(type, args)


_QUICK: Mapping[str, _Quick] = {
    "#get_context_data": _read_variable,
    "*equal": _make_comparison(eq),
    "*not_equal": _make_comparison(ne),
    "#operator_.": _call_method,
}
