"""A stack's past, its reasons and its graph, put together for faces. Made by ``core/app/app.py``.

Reads only: neither an engine nor a lock is needed. A plug-in that is gone hides nothing that can be
told without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.engine.templates.stored import Templates, stored
from zonda.core.reports.differences import Differences, differences
from zonda.core.reports.failures import Failure
from zonda.core.reports.generations import Generations
from zonda.core.reports.graph import Graph, of_stack, of_template
from zonda.core.reports.leaves import innermost
from zonda.core.reports.past import Past, past
from zonda.core.reports.why import Explaining, Explanation
from zonda.core.store.read import trees
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import ActionView, FailedView, StackView
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template import redaction
from zonda.core.template.load import StackDefinition
from zonda.core.template.redaction import Shown
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.core.template.source.document import Document, load_document
from zonda.hooks.errors import ZondaError


class StackInspector:
    """What can be told of stacks. ``loading`` is asked for where a template is to be read."""

    def __init__(self, reader: Reader, loading: Callable[[], TemplateLoading]) -> None:
        self._reader = reader
        self._loading = loading

    def generations(self, stack: StackView) -> Generations:
        """The past of a stack."""
        return Generations(self._reader, stack, self.read)

    def read(self, bundle: Bundle, identity: Identity) -> StackDefinition:
        """A stored template; types that are not installed any more are no fault."""
        return self._loading().load(
            bundle, identity, None, False, all_given=False, ignore_unknown=True
        )

    def past(self, stack: StackView, generation: int) -> Past:
        """A stack as it was at the end of a generation; raises NotFound."""
        return past(self._reader, stack, self.generations(stack).one(generation))

    def shown(self, stack: StackView, action: ActionView) -> Shown:
        """What was given in a generation; raises ZondaError if it cannot be read any more."""
        known = self.generations(stack)
        return known.given(action).hiding(known.hidden_now()).shown(also=known.secrets_now())

    def why(
        self, stack: StackView, resource: str | None = None, generation: int | None = None
    ) -> Explanation:
        """Why a stack, or one resource, is as it is; raises NotFound."""
        explaining = Explaining(self._reader, stack, self.generations(stack))
        return explaining.explain(resource, generation)

    def innermost(self, stack: StackView, views: Sequence[FailedView]) -> list[Failure]:
        """What failed in nested stacks in place of their owners."""
        return innermost(self._reader, stack, views)

    def document(self, template_id: str) -> Document:
        """A stored template as it was written, for places in it; raises ZondaError."""
        found = stored(self._reader, template_id)
        return load_document(found.text, found.file if found.has_file else "")

    def graph(self, stack: StackView, depth: int = 0) -> tuple[Graph, str]:
        """The graph of a stack, and why its edges cannot be explained, if they cannot be.

        ``depth``: with what is nested in it, so many levels down.
        """
        templates, untold = Templates(self._reader, self.read), ""
        rows: dict[str, list[ResourceRow]] = {}
        for row in self._reader.tree_resources(stack.root_id) if depth else ():
            rows.setdefault(row.stack_id, []).append(row)
        parts: list[Graph] = []
        for stack_id, path in trees.tree_of(self._reader, stack).within(depth).items():
            view = stack if stack_id == stack.id else self._reader.stack_by_id(stack_id)
            definition, why = _definition(templates, view)
            untold = untold or why
            known = rows.get(stack_id, []) if depth else self._reader.resource_rows(stack_id)
            found = of_stack(f"Stack {view.name}", known, definition)
            parts.append(found.below("/".join(path)) if path else found)
        return parts[0].joined(*parts[1:]), untold

    def template_graph(self, bundle: Bundle, name: str) -> Graph:
        """The graph of a template that nothing was made of; raises ValidationErrors."""
        return of_template(self.read(bundle, Identity("", "template", "")), name)

    def differences(
        self, stack: StackView, first: int | None, second: int | None
    ) -> tuple[ActionView, ActionView, Differences]:
        """Two generations and what differs.

        ``second`` None: the present one; ``first`` None: the last one with another template.
        """
        known = self.generations(stack)
        newer = known.one(stack.generation if second is None else second)
        older = known.before(newer) if first is None else known.one(first)
        before, after = known.given(older), known.given(newer)
        hidden = before.hidden | after.hidden | known.hidden_now()
        before, after = before.hiding(hidden), after.hiding(hidden)
        names = (f"generation {older.generation}", f"generation {newer.generation}")
        secrets = (redaction.repeated(each.secrets) for each in (before, after))
        also = [*chain.from_iterable(secrets), *known.secrets_now()]
        shown = before.shown(also=also), after.shown(before, also)
        return older, newer, differences(*shown, names)


def _definition(templates: Templates, stack: StackView) -> tuple[StackDefinition | None, str]:
    """The template of a stack, and why it cannot be read, if it cannot be."""
    if stack.template_id is None:
        return None, ""
    try:
        identity = Identity(stack.id, stack.name, stack.project)
        return templates.definition(templates.stored(stack.template_id), identity), ""
    except ZondaError as error:
        return None, str(error)
