"""yaql expressions read without yaql's own parser: making its tables takes an eighth of a second.

Called by ``yaql_engine``. What ordinary expressions are made of is read by the precedence of
operators, with yaql's table of them, into yaql's own expressions. Whatever is not certain here, or
wrong, is left to yaql's parser: it has the last word, and the words for what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from yaql.language import expressions
from yaql.language.factory import OperatorType, YaqlFactory
from yaql.language.lexer import decode_escapes

_BINARY = (OperatorType.BINARY_LEFT_ASSOCIATIVE, OperatorType.BINARY_RIGHT_ASSOCIATIVE)
_CONSTANTS = {"true": True, "false": False, "null": None}
_INDEX, _OPENED = "[]", {"[": "]", "(": ")", "{": "}"}
_BLANK = " \t\r\n"
#: No operator is looser.
_ANY = 0


class _NotCertain(Exception):
    """Something that yaql's parser has to decide."""


class _Operators(NamedTuple):
    """How tightly each operator binds, by its symbol; what follows a binary one binds tighter."""

    binary: dict[str, tuple[int, int]]
    prefix: dict[str, int]
    aliases: dict[str, str | None]
    pattern: re.Pattern[str]


class _Token(NamedTuple):
    kind: str
    value: Any


_END = _Token("end", None)


@cache
def _operators() -> _Operators:
    """yaql's operators. Its table begins with the tightest; an empty line begins looser ones."""
    factory = YaqlFactory()
    binary: dict[str, tuple[int, int]] = {}
    prefix: dict[str, int] = {}
    aliases: dict[str, str | None] = {}
    tightness = 2 * len(factory.operators)
    for line in factory.operators:
        if not line:
            tightness -= 2
            continue
        symbol, kind, *alias = line
        aliases[symbol] = alias[0] if alias else None
        if kind == OperatorType.PREFIX_UNARY:
            prefix[symbol] = tightness
        elif kind in _BINARY:
            binary[symbol] = tightness, tightness - (kind == _BINARY[1])
    return _Operators(binary, prefix, aliases, _pattern(aliases))


def _pattern(symbols: dict[str, str | None]) -> re.Pattern[str]:
    """One token."""
    signs = {each for each in symbols if not each[0].isalpha()} | {*"()[]{},"}
    longest_first = sorted(signs - {_INDEX, "{}"}, key=len, reverse=True)
    return re.compile(
        r"(?P<dollar>\$\w*)|(?P<number>\b\d+(?:\.?\d+)?\b)|(?P<call>\b[^\W\d]\w*)\("
        r"|(?P<word>(?!__)\b[^\W\d]\w*\b)|'(?P<single>(?:[^'\\]|\\.)*)'"
        r"|\"(?P<double>(?:[^\"\\]|\\.)*)\"|`(?P<verbatim>(?:[^`\\]|\\.)*)`"
        rf"|(?P<sign>{'|'.join(map(re.escape, longest_first))})"
    )


def read(text: str) -> Any:
    """The expression; None where yaql's own parser has to read it."""
    try:
        reader = _Reader(_operators(), _tokens(text))
        found = reader.expression(_ANY)
        return found if reader.next is _END else None
    except (_NotCertain, RecursionError, ValueError):
        return None


def _tokens(text: str) -> Iterator[_Token]:
    operators = _operators()
    at, end = 0, len(text)
    while at < end:
        if text[at] in _BLANK:
            at += 1
            continue
        match = operators.pattern.match(text, at)
        if match is None:
            raise _NotCertain
        at = match.end()
        yield _token(str(match.lastgroup), match[str(match.lastgroup)], operators)


def _token(kind: str, text: str, operators: _Operators) -> _Token:
    if kind == "number":
        return _Token("constant", float(text) if "." in text else int(text))
    if kind in ("single", "double"):
        return _Token("constant", decode_escapes(text))
    if kind == "verbatim":
        return _Token("constant", text.replace("\\`", "`"))
    if kind == "word" and text in operators.aliases:
        return _Token("sign", text)
    if kind == "word" and text in _CONSTANTS:
        return _Token("constant", _CONSTANTS[text])
    return _Token(kind, text)


class _Reader:
    """Reads the tokens of one expression; ``next`` is the one that has not been read."""

    def __init__(self, operators: _Operators, tokens: Iterator[_Token]) -> None:
        self._operators = operators
        self._tokens = tokens
        self.next = next(tokens, _END)

    def _take(self) -> _Token:
        taken, self.next = self.next, next(self._tokens, _END)
        return taken

    def _sign(self) -> str:
        """The sign that is next; none for anything else."""
        return str(self.next.value) if self.next.kind == "sign" else ""

    def expression(self, least: int) -> Any:
        """As much as is bound tighter than ``least``."""
        found = self._first()
        binary = self._operators.binary
        while True:
            sign = self._sign()
            tightness, after = binary.get(_INDEX if sign == "[" else sign, (_ANY, _ANY))
            if tightness <= least:
                return found
            self._take()
            if sign == "[":
                found = expressions.IndexExpression(found, *self._arguments("]"))
            else:
                alias = self._operators.aliases[sign]
                found = expressions.BinaryOperator(sign, found, self.expression(after), alias)

    def _first(self) -> Any:
        kind, value = self._take()
        if kind == "constant":
            return expressions.Constant(value)
        if kind == "word":
            return expressions.KeywordConstant(value)
        if kind == "dollar":
            return expressions.GetContextValue(expressions.Constant(value))
        if kind == "call":
            return expressions.Function(value, *self._arguments(")"))
        return self._signed(value)

    def _signed(self, sign: Any) -> Any:
        """What begins with a sign."""
        if sign in self._operators.prefix:
            operand = self.expression(self._operators.prefix[sign])
            return expressions.UnaryOperator(sign, operand, self._operators.aliases[sign])
        if sign == "(":
            inside = self.expression(_ANY)
            self._end_with(")")
            return expressions.Wrap(inside)
        if sign == "[":
            return expressions.ListExpression(*self._arguments("]"))
        if sign == "{":
            return expressions.MapExpression(*self._arguments("}"))
        raise _NotCertain

    def _end_with(self, sign: str) -> None:
        if self._take() != ("sign", sign):
            raise _NotCertain

    def _arguments(self, end: str) -> list[Any]:
        """What stands between commas: values, then rules. None may be left out here."""
        found: list[Any] = []
        has_rules = False
        while self._sign() != end or found:
            found.append(self.expression(_ANY))
            if self._sign() == "=>":
                self._take()
                found[-1] = expressions.MappingRuleExpression(found[-1], self.expression(_ANY))
                has_rules = True
            elif has_rules:
                raise _NotCertain
            if self._sign() == end:
                break
            self._end_with(",")
        self._end_with(end)
        return found
