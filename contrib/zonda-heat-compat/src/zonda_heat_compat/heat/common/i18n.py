"""Texts are not translated: every form of ``_`` gives back what it is given."""

from __future__ import annotations


def _(text: str) -> str:
    return text


_LI = _LW = _LE = _LC = _


def _n(singular: str, plural: str, count: int) -> str:
    return singular if count == 1 else plural


_P = _n


def repr_wrapper(cls: type) -> type:
    return cls
