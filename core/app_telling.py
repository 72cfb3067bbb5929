"""A stack's past, its reasons and its graph, put together for faces. Made by ``core/app.py``.

Reads only: neither an engine nor a lock is needed. A plug-in that is gone hides nothing that can be
told without it.
"""

from __future__ import annotations

from collections.abc import Callable

from zonda.hooks.errors import ZondaError

from .engine.loading import TemplateLoading
from .engine.telling.differences import Differences, differences
from .engine.telling.generations import Generations
from .engine.telling.graph import Graph, of_stack, of_template
from .engine.telling.past import Past, past
from .engine.telling.why import Explaining, Explanation
from .store.reads import Reader
from .store.views import ActionView, StackView
from .template.bundle import Bundle, Identity
from .template.redacting import Shown
from .template.stack import StackDefinition


class Telling:
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

    def graph(self, stack: StackView) -> tuple[Graph, str]:
        """The graph of a stack, and why its edges cannot be explained, if they cannot be."""
        rows = self._reader.resource_rows(stack.id)
        definition, untold = None, ""
        if stack.template_id is not None:
            try:
                definition = self.generations(stack).template(stack.template_id).definition
            except ZondaError as error:
                untold = str(error)
        return of_stack(f"Stack {stack.name}", rows, definition), untold

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
        also = [*before.secrets.values(), *after.secrets.values(), *known.secrets_now()]
        shown = before.shown(also=also), after.shown(before, also)
        return older, newer, differences(*shown, names)
