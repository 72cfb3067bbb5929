"""Texts are not translated."""

from heat.common.i18n import _LC, _LE, _LI, _LW, _

__all__ = ["_LC", "_LE", "_LI", "_LW", "_", "install"]


def install(domain: str, lazy: bool = False) -> None:
    """Nothing to do."""
