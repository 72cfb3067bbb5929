"""Translation rules."""

from __future__ import annotations


class Rule:
    """A rule."""


TranslationRule = Rule
