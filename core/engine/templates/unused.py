"""The bundle of a stack that was nested once, as if it had always been a root stack.

Its template was stored as a part of that of another stack. In the pool, for ``proposals``.
"""

from __future__ import annotations

from zonda.core.store.values.jsontext import dumps
from zonda.core.template.source.bundle import Bundle
from zonda.hooks import records

from ..model.definition import Definition
from .merging import format_environment
from .stored import Stored


def rebuild_bundle(found: Stored, definition: Definition) -> Bundle:
    """The bundle that a stack was made from; ``definition``: that of the same template.

    The environment of the stack above counts but for its parameters, which are none of this one.
    """
    if found.spec is None:
        return found.base
    environment = format_environment(definition.environment)
    return records.replace(
        found.bundle, environment=dumps(environment), environment_files=(), parameters_win=True
    )
