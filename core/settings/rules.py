"""Rules of the policy: who may do something, as ``role:admin or owner and not project:guests``.

``not`` binds closer than ``and``, ``and`` closer than ``or``; parentheses group. Called where
settings are checked, and by the policy table of the API.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from zonda.hooks.records import dataclass

_WORD = re.compile(r"\s*([()]|[^\s()]+)")
_LONGEST = 1000
#: The words that stand alone, beside ``role:NAME`` and ``project:NAME``.
_SINGLE = ("owner", "always", "never")


@dataclass(frozen=True, slots=True)
class Facts:
    """A caller as rules see it. ``projects``: id and name of its project.

    ``is_owner``: tells whether it has created the stack in question.
    """

    roles: Collection[str]
    projects: Collection[str]
    is_owner: Callable[[], bool]


Rule = Callable[[Facts], bool]


def parse_rule(text: str) -> Rule:
    """Parse a rule; raises ValueError that says what is wrong."""
    if len(text) > _LONGEST:
        raise ValueError(f"a rule has at most {_LONGEST} characters")
    parser = _Parser(_WORD.findall(text))
    rule = parser.parse_or()
    if parser.words:
        raise ValueError(f"'and' or 'or' is missing before {parser.words[0]!r}")
    return rule


class _Parser:
    """The words that are still to be read."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def parse_or(self) -> Rule:
        """Parse alternatives."""
        rule = self._parse_and()
        while self._skip("or"):
            rule = _either(rule, self._parse_and())
        return rule

    def _parse_and(self) -> Rule:
        rule = self._parse_not()
        while self._skip("and"):
            rule = _both(rule, self._parse_not())
        return rule

    def _parse_not(self) -> Rule:
        is_denied = False
        while self._skip("not"):
            is_denied = not is_denied
        rule = self._parse_check()
        return _deny(rule) if is_denied else rule

    def _parse_check(self) -> Rule:
        if self._skip("("):
            rule = self.parse_or()
            if not self._skip(")"):
                raise ValueError("a ) is missing")
            return rule
        if not self.words:
            raise ValueError("it ends where a check must stand, e.g. role:admin")
        word = self.words.pop(0)
        kind, colon, name = word.partition(":")
        if colon and name and kind in ("role", "project"):
            return _make_check(kind, name)
        if word not in _SINGLE:
            raise ValueError(
                f"{word!r} is no check: these are role:NAME, project:NAME, {', '.join(_SINGLE)}"
            )
        return _make_check(word, "")

    def _skip(self, word: str) -> bool:
        if not self.words or self.words[0] != word:
            return False
        self.words.pop(0)
        return True


def _make_check(kind: str, name: str) -> Rule:
    checks: dict[str, Rule] = {
        "role": lambda facts: name in facts.roles,
        "project": lambda facts: name in facts.projects,
        "owner": lambda facts: facts.is_owner(),
        "always": lambda facts: True,
        "never": lambda facts: False,
    }
    return checks[kind]


def _either(left: Rule, right: Rule) -> Rule:
    return lambda facts: left(facts) or right(facts)


def _both(left: Rule, right: Rule) -> Rule:
    return lambda facts: left(facts) and right(facts)


def _deny(rule: Rule) -> Rule:
    return lambda facts: not rule(facts)
