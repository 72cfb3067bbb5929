"""The name that Heat's plug-ins import, lent by zonda-heat-compat."""

import builtins

#: By this mark the finder knows its own package.
__zonda__ = True

# Plug-ins of 2013 use ``_`` without importing it: the Heat of that time put it among the builtins.
if not hasattr(builtins, "_"):
    builtins._ = str  # type: ignore[attr-defined]
