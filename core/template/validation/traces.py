"""The trace of a fault in a nested template: the resources that lead there.

Called wherever a fault of a nested template becomes one of the template above it.
"""

from __future__ import annotations

from zonda.hooks.errors import Related, TemplateError
from zonda.hooks.text.sanitize import escape_control_chars

from ..source.document import Document
from ..syntax.resource import ResourceNode


def add_trace(fault: TemplateError, owner: ResourceNode, document: Document) -> TemplateError:
    """Add ``owner`` to the trace of ``fault``, which has its place already (in place)."""
    place = document.place(owner.path, key=True)
    step = Related(
        f"{owner.name} has the type {escape_control_chars(owner.type)}", place, owner.path
    )
    fault.way = (step, *fault.way)
    return fault
