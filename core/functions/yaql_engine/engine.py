"""yaql within limits: elements, memory, and time.

Called by ``yaql_call``. The engine, the context and parsed expressions are made once, which is
ninety times cheaper than making them for each call. yaql itself bounds elements and memory; the
deadline is ours, looked at wherever yaql asks for its limits, which it does at every call of a
function. Two functions that can take for ever inside one call are replaced by bounded ones.
"""

from __future__ import annotations

import collections.abc  # noqa: F401  (yaql uses it without importing it)
import re
import threading
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

import yaql
from yaql.language import exceptions, expressions, specs, utils, yaqltypes
from yaql.language.factory import YaqlEngine

from zonda.core.system.clock import SystemClock
from zonda.core.template.source.diagnostics import TooLarge
from zonda.core.template.source.yaml_parser import check_number
from zonda.hooks.errors import TemplateError

from . import format, regex
from .context import Evaluation, Library
from .data import freeze, thaw
from .limits import Spend, Work, check_bits

#: The errors of expressions: yaql's own, and those of Python's operations.
_FAULTS = (
    exceptions.YaqlException,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
    re.error,
)
_LONGEST_MESSAGE = 1000
#: Reading takes ten microseconds a character.
_LONGEST_EXPRESSION = 50_000

#: The code of every fault of an expression.
YAQL = "ZON118"

Clock = Callable[[], float]
_CPU: Clock = SystemClock().thread_cpu
_WALL: Clock = SystemClock().monotonic

#: PLY's lexer and parser hold the state of one parse.
_parsing = threading.Lock()


@cache
def _build_engine() -> YaqlEngine:
    return yaql.YaqlFactory().create()


@specs.inject("engine", yaqltypes.Engine())  # type: ignore[untyped-decorator]
@specs.name("#finalize")  # type: ignore[untyped-decorator]
def _finalize(obj: Any, engine: Any) -> Any:
    return thaw(obj, utils.get_max_collection_size(engine), engine)


@cache
def _build_library() -> Library:
    """Build the standard library, with endless functions replaced by bounded ones."""
    context = yaql.create_context(regex=False, finalizer=_finalize)
    regex.register(context)
    format.register(context)
    context = context.create_child_context()
    context.register_function(_power, name="pow", exclusive=True)
    context.register_function(_shift_left, name="shiftBitsLeft", exclusive=True)
    context.register_function(_replace, name="replace", method=True)
    context.register_function(_replace_by_map, name="replace", method=True)
    return Library(context)


class BadExpression(ValueError):
    """Raised for an expression that yaql cannot parse."""

    code = YAQL
    heat_type = "ValueError"


#: A text, or so many digits that yaql's lexer would take for ever to see whether they are a number.
_LONG_NUMBER = re.compile(
    "|".join(rf"{quote}(?:[^{quote}\\]|\\.|\\\Z)*(?:{quote}|\Z)" for quote in "'\"`")
    + r"|(?P<digits>\d{101})",
    re.DOTALL,
)


@lru_cache(maxsize=1024)
def parse_expression(expression: str) -> Any:
    """Parse an expression; raises BadExpression with Heat's words."""
    if any(match["digits"] for match in _LONG_NUMBER.finditer(expression)):
        raise BadExpression("Bad expression: a number has more than 100 digits.")
    if len(expression) > _LONGEST_EXPRESSION:
        raise BadExpression(f"Bad expression: it has more than {_LONGEST_EXPRESSION} characters.")
    with _parsing:
        engine = _build_engine()
        try:
            return engine.parser.parse(expression, lexer=engine.lexer)
        except (*_FAULTS, RecursionError) as error:
            raise BadExpression(f"Bad expression {error}.") from error


class _Options(utils.FrozenDict):  # type: ignore[misc]
    """yaql's limits, and the deadline that is checked each time yaql reads one of them.

    A thread has no more CPU time than passes on the wall, whose clock can be read in a tenth of the
    time. So the other one is asked only when all of the seconds left may be gone.
    """

    def __init__(
        self, options: Mapping[str, Any], seconds: float, clock: Clock, wall: Clock
    ) -> None:
        super().__init__(options)
        self._seconds = seconds
        self._clock = clock
        self._wall = wall
        self._end = clock() + seconds
        self._next_look = wall() + seconds

    def get(self, key: str, default: Any = None) -> Any:
        now = self._wall()
        if now >= self._next_look:
            self._next_look = now + self.get_seconds_left()
        return self._d.get(key, default)

    def get_seconds_left(self) -> float:
        """The seconds left; raises TemplateError where there are none."""
        left = self._end - self._clock()
        if left <= 0:
            raise self.make_overrun_error()
        return left

    def make_overrun_error(self) -> TemplateError:
        """Make the error of an expression that took too long."""
        return TemplateError(
            f"the yaql expression took more than {self._seconds:g} seconds of CPU time",
            heat_type="TimeoutError",
            code=YAQL,
            hint="Make the expression simpler, or raise the limit in the settings.",
        )


class _LimitedEngine(YaqlEngine):  # type: ignore[misc]
    """The one engine with the options of one evaluation."""

    def __init__(self, options: _Options, work: Work) -> None:
        base = _build_engine()
        super().__init__(base.lexer, base.parser, {}, base.factory)
        self._limits = options
        self.work = work

    @property
    def options(self) -> _Options:
        return self._limits


class Evaluator:
    """Evaluates expressions within limits: elements of a collection, bytes, seconds of CPU time."""

    def __init__(
        self,
        iterators: int,
        memory: int,
        seconds: float,
        clock: Clock = _CPU,
        wall: Clock = _WALL,
    ) -> None:
        self._options = {
            "yaql.limitIterators": iterators,
            "yaql.memoryQuota": memory,
            "yaql.convertInputData": False,  # it is frozen here
        }
        self._seconds = seconds
        self._clocks = clock, wall

    def evaluate(self, expression: str, data: Any, spend: Spend = lambda values: None) -> Any:
        """Evaluate an expression to plain data; sets stay sets, as in Heat.

        ``spend`` counts steps and values, and raises TooLarge. Raises ValueError for a syntax
        error, else TemplateError: ``heat_type`` is the class of the error inside yaql.
        """
        options, work = _Options(self._options, self._seconds, *self._clocks), Work(spend)
        statement = expressions.Statement(
            parse_expression(expression), _LimitedEngine(options, work)
        )
        context = Evaluation(_build_library(), work).build_frame()
        try:
            return _check_plain(statement.evaluate(data=freeze({"data": data}), context=context))
        except (TemplateError, TooLarge, _NoValue):
            raise
        except _FAULTS as error:
            raise _make_fault(error) from error


def _make_fault(error: BaseException) -> TemplateError:
    kind = type(error).__name__
    message = (str(error) or kind)[:_LONGEST_MESSAGE]
    if isinstance(error, RecursionError):
        message = "the yaql expression is nested, or calls itself, too deep"
    return TemplateError(message, heat_type=kind, code=YAQL)


class _NoValue(TypeError):
    """Raised where the result of an expression is no value of a template."""


def _check_plain(value: Any) -> Any:
    """Return ``value`` if a template can hold it; raise TypeError for patterns and dates."""
    if isinstance(value, int):
        return check_number(value)
    if value is None or isinstance(value, str | float):
        return value
    if isinstance(value, list | set):
        for item in value:
            _check_plain(item)
        return value
    if isinstance(value, dict):
        for key, item in value.items():
            if not (key is None or isinstance(key, str | int | float)):
                raise _NoValue(
                    f"the yaql expression gives a map with a {type(key).__name__} as key"
                )
            _check_plain(key)
            _check_plain(item)
        return value
    raise _NoValue(f"the yaql expression gives a {type(value).__name__}, which is no plain value")


@specs.parameter("a", yaqltypes.Number())  # type: ignore[untyped-decorator]
@specs.parameter("b", yaqltypes.Number())  # type: ignore[untyped-decorator]
@specs.parameter("c", yaqltypes.Number(nullable=True))  # type: ignore[untyped-decorator]
def _power(a: Any, b: Any, c: Any = None) -> Any:
    if c is None and isinstance(a, int) and isinstance(b, int):
        check_bits(a.bit_length() * max(b, 0))
    return pow(a, b, c)


@specs.parameter("value", int)  # type: ignore[untyped-decorator]
@specs.parameter("bits_number", int)  # type: ignore[untyped-decorator]
def _shift_left(value: int, bits_number: int) -> int:
    check_bits(value.bit_length() + bits_number)
    return value << bits_number


@specs.parameter("string", yaqltypes.String())  # type: ignore[untyped-decorator]
@specs.parameter("old", yaqltypes.String())  # type: ignore[untyped-decorator]
@specs.parameter("new", yaqltypes.String())  # type: ignore[untyped-decorator]
@specs.parameter("count", int)  # type: ignore[untyped-decorator]
@specs.inject("engine", yaqltypes.Engine())  # type: ignore[untyped-decorator]
def _replace(engine: Any, string: str, old: str, new: str, count: int = -1) -> str:
    if string.count(old) * len(new) > utils.get_memory_quota(engine):
        raise exceptions.MemoryQuotaExceededException
    return string.replace(old, new, count)


@specs.parameter("string", yaqltypes.String())  # type: ignore[untyped-decorator]
@specs.inject("str_func", yaqltypes.Delegate("str"))  # type: ignore[untyped-decorator]
@specs.parameter("replacements", utils.MappingType)  # type: ignore[untyped-decorator]
@specs.parameter("count", int)  # type: ignore[untyped-decorator]
@specs.inject("engine", yaqltypes.Engine())  # type: ignore[untyped-decorator]
def _replace_by_map(
    engine: Any, string: str, str_func: Any, replacements: Any, count: int = -1
) -> str:
    for old, new in replacements.items():
        string = _replace(engine, string, str_func(old), str_func(new), count)
    return string
