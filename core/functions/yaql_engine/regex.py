"""yaql's functions on regular expressions, in bounded time.

Python's ``re`` cannot be interrupted and holds every thread. So ``re`` compiles, for its verdict on
a malformed pattern, and the ``regex`` package searches within the time that the expression has
left. Registered by ``engine`` in place of the library's own functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any, TypeVar

from yaql.language import specs, yaqltypes

from zonda.hooks.text import patterns

_TEXT = yaqltypes.String()
_LAMBDA = yaqltypes.Lambda(with_context=True)


class Pattern:
    """The value of yaql's ``regex()``."""

    def __init__(self, text: str, flags: int) -> None:
        self.text = text
        self.flags = flags
        re.compile(text, flags)  # its verdict on a malformed pattern is Heat's
        self.compiled = patterns.compile_pattern(text, flags)

    def __repr__(self) -> str:
        return f"regex({self.text!r})"


def _run_bounded(engine: Any, work: Callable[[float], Any]) -> Any:
    """Run ``work`` with the seconds left; return its result."""
    try:
        return work(engine.options.get_seconds_left())
    except TimeoutError:  # of the clock on the wall, which is no slower
        raise engine.options.make_overrun_error() from None


def _search(engine: Any, pattern: Pattern, text: str) -> Any:
    return _run_bounded(engine, lambda seconds: pattern.compiled.search(text, timeout=seconds))


def _set_groups(context: Any, match: Any) -> None:
    """Set ``$1`` to the match, ``$2`` and so on to its groups, ``$name`` to the named ones."""
    numbered = {str(index + 1): index for index in range(len(match.groups()) + 1)}
    for name, group in {**numbered, **match.re.groupindex}.items():
        context[f"${name}"] = {
            "value": match.group(group),
            "start": match.start(group),
            "end": match.end(group),
        }


def _apply_selector(context: Any, match: Any, selector: Any) -> Any:
    if selector is None:
        return match.group()
    child = context.create_child_context()
    _set_groups(child, match)
    return selector(child)


_Callable = TypeVar("_Callable", bound=Callable[..., Any])

#: The declared functions: name, function, whether it is called on a receiver.
_registered: list[tuple[str, Callable[..., Any], bool]] = []


def _declare(name: str, *, method: bool = False, **types: Any) -> Callable[[_Callable], _Callable]:
    """Declare a function of the expression language: its name and its parameters' types.

    A parameter called ``engine`` receives the engine of the evaluation, and ``context`` the
    context; the receiver of a method is its first parameter with a type.
    """

    def mark(function: _Callable) -> _Callable:
        for parameter, kind in types.items():
            specs.parameter(parameter, kind)(function)
        if "engine" in signature(function).parameters:
            specs.inject("engine", yaqltypes.Engine())(function)
        _registered.append((name, function, method))
        return function

    return mark


@_declare("regex", pattern=_TEXT)
def _regex(
    pattern: str, ignore_case: bool = False, multi_line: bool = False, dot_all: bool = False
) -> Pattern:
    flags = re.UNICODE
    flags |= re.IGNORECASE if ignore_case else 0
    flags |= re.MULTILINE if multi_line else 0
    flags |= re.DOTALL if dot_all else 0
    return Pattern(pattern, int(flags))


@_declare("matches", method=True, regexp=Pattern, string=_TEXT)
def _pattern_matches(engine: Any, regexp: Pattern, string: str) -> bool:
    return _search(engine, regexp, string) is not None


@_declare("matches", method=True, string=_TEXT, regexp=_TEXT)
def _text_matches(engine: Any, string: str, regexp: str) -> bool:
    return _search(engine, Pattern(regexp, 0), string) is not None


@_declare("#operator_=~", string=_TEXT, regexp=_TEXT)
def _like_text(engine: Any, string: str, regexp: str) -> bool:
    return _text_matches(engine, string, regexp)


@_declare("#operator_=~", string=_TEXT, regexp=Pattern)
def _like_pattern(engine: Any, string: str, regexp: Pattern) -> bool:
    return _search(engine, regexp, string) is not None


@_declare("#operator_!~", string=_TEXT, regexp=Pattern)
def _unlike_pattern(engine: Any, string: str, regexp: Pattern) -> bool:
    return _search(engine, regexp, string) is None


@_declare("#operator_!~", string=_TEXT, regexp=_TEXT)
def _unlike_text(engine: Any, string: str, regexp: str) -> bool:
    return _search(engine, Pattern(regexp, 0), string) is None


@_declare("search", method=True, regexp=Pattern, string=_TEXT, selector=_LAMBDA)
def _search_one(
    context: Any, engine: Any, regexp: Pattern, string: str, selector: Any = None
) -> Any:
    match = _search(engine, regexp, string)
    return None if match is None else _apply_selector(context, match, selector)


@_declare("searchAll", method=True, regexp=Pattern, string=_TEXT, selector=_LAMBDA)
def _search_all(
    context: Any, engine: Any, regexp: Pattern, string: str, selector: Any = None
) -> Iterator[Any]:
    found = _run_bounded(
        engine, lambda seconds: list(regexp.compiled.finditer(string, timeout=seconds))
    )
    for match in found:
        yield _apply_selector(context, match, selector)


@_declare("split", method=True, regexp=Pattern, string=_TEXT, max_split=int)
def _split(engine: Any, regexp: Pattern, string: str, max_split: int = 0) -> Any:
    return _run_bounded(
        engine, lambda seconds: regexp.compiled.split(string, max_split, timeout=seconds)
    )


@_declare("split", method=True, string=_TEXT, regexp=Pattern, max_split=int)
def _split_text(engine: Any, string: str, regexp: Pattern, max_split: int = 0) -> Any:
    return _split(engine, regexp, string, max_split)


@_declare("replace", method=True, regexp=Pattern, string=_TEXT, repl=_TEXT, count=int)
def _replace(engine: Any, regexp: Pattern, string: str, repl: Any, count: int = 0) -> Any:
    return _run_bounded(
        engine, lambda seconds: regexp.compiled.sub(repl, string, count, timeout=seconds)
    )


@_declare("replace", method=True, string=_TEXT, regexp=Pattern, repl=_TEXT, count=int)
def _replace_text(engine: Any, string: str, regexp: Pattern, repl: str, count: int = 0) -> Any:
    return _replace(engine, regexp, string, repl, count)


@_declare("replaceBy", method=True, regexp=Pattern, string=_TEXT, repl=_LAMBDA, count=int)
def _replace_by(
    context: Any, engine: Any, regexp: Pattern, string: str, repl: Any, count: int = 0
) -> Any:
    return _replace(
        engine, regexp, string, lambda match: _apply_selector(context, match, repl), count
    )


@_declare("replaceBy", method=True, string=_TEXT, regexp=Pattern, repl=_LAMBDA, count=int)
def _replace_text_by(
    context: Any, engine: Any, string: str, regexp: Pattern, repl: Any, count: int = 0
) -> Any:
    return _replace_by(context, engine, regexp, string, repl, count)


@_declare("escapeRegex", string=_TEXT)
def _escape(string: str) -> str:
    return re.escape(string)


@_declare("isRegex")
def _is_regex(value: Any) -> bool:
    return isinstance(value, Pattern)


def register(context: Any) -> None:
    """Register the functions in ``context``."""
    for name, function, method in _registered:
        context.register_function(function, name=name, method=method, function=not method)
