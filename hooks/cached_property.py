"""A property that is computed once for each instance.

``functools.cached_property`` of Python 3.11 has one lock for all instances of a class. Where to
compute the value runs a plug-in or waits for another lock, threads would wait for each other for
ever. This one has none, as in Python 3.12: two threads that ask one instance at the same time may
both compute the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:
        """The decorator of a method whose answer is kept in the ``__dict__`` of its instance."""

        def __init__(self, compute: Any) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type[Any], name: str) -> None:
            """Keep the name of the property."""
            self._name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """The value; it stands before this in the look-up from now on."""
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._compute(instance)
            return value
