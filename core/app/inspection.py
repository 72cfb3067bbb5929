"""Reports on a stack's history, failures and graph. Made by ``core/app/parts.py``.

Reads only: neither an engine nor a lock is needed. A plug-in that is gone hides nothing that can be
told without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import chain

from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.engine.templates.stored import Templates, read_stored
from zonda.core.reports.differences import Differences, compare
from zonda.core.reports.failures import Failure
from zonda.core.reports.generations import Generation, Generations
from zonda.core.reports.graph import Graph, build_stack_graph, build_template_graph
from zonda.core.reports.leaves import list_innermost_failures
from zonda.core.reports.past import Past, read_past
from zonda.core.reports.why import Explanation, StackExplainer
from zonda.core.store.read import trees
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import ActionView, StackView
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template import redaction
from zonda.core.template.load import StackDefinition
from zonda.core.template.redaction import RedactedBundle
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.core.template.source.document import Document, load_document
from zonda.hooks.errors import Path, Place, ZondaError


class StackInspector:
    """Reports on stacks. ``loading`` gives the template loader where a template is read."""

    def __init__(self, reader: Reader, loading: Callable[[], TemplateLoading]) -> None:
        self._reader = reader
        self._loading = loading
        self._documents: dict[str, Document | None] = {}

    def read_history(self, stack: StackView) -> Generations:
        """Return the history of a stack, generation by generation."""
        return Generations(self._reader, stack, self.read)

    def list_generations(self, stack: StackView) -> list[Generation]:
        """List every generation that is kept, the oldest first."""
        return self.read_history(stack).all()

    def read(self, bundle: Bundle, identity: Identity) -> StackDefinition:
        """Load a stored template; types that are not installed any more are no error."""
        return self._loading().load(
            bundle, identity, None, False, all_given=False, ignore_unknown=True
        )

    def read_past(self, stack: StackView, generation: int) -> Past:
        """Return a stack as it was at the end of a generation; raises NotFound."""
        return read_past(self._reader, stack, self.read_history(stack).one(generation))

    def show_input(self, stack: StackView, action: ActionView) -> RedactedBundle:
        """Return the redacted input of a generation; raises ZondaError if it cannot be read."""
        known = self.read_history(stack)
        return (
            known.load_input(action)
            .with_hidden(known.list_hidden_parameters())
            .redact(also=known.list_secrets())
        )

    def why(
        self, stack: StackView, resource: str | None = None, generation: int | None = None
    ) -> Explanation:
        """Explain the state of a stack, or of one resource; raises NotFound."""
        explaining = StackExplainer(self._reader, stack, self.read_history(stack))
        return explaining.explain(resource, generation)

    def find_place(self, template_id: str, at: Path) -> Place | None:
        """Find the place of a part of a stored template; None where that has no file.

        Raises ZondaError where the template cannot be read.
        """
        if template_id not in self._documents:
            found = read_stored(self._reader, template_id)
            text = load_document(found.text, found.file) if found.has_file else None
            self._documents[template_id] = text
        document = self._documents[template_id]
        return None if document is None else document.place(at, key=True)

    def list_innermost_failures(
        self, stack: StackView, since: int, names: Collection[str]
    ) -> dict[str, list[Failure]]:
        """List what has failed below each resource among ``names`` since a generation."""
        views = {
            one.resource_name: one
            for one in self._reader.list_failed(stack.id)
            if one.generation >= since and one.resource_name in names
        }
        return {
            name: list_innermost_failures(self._reader, stack, [view])
            for name, view in views.items()
        }

    def build_graph(self, stack: StackView, depth: int = 0) -> tuple[Graph, str]:
        """Build the graph of a stack; also return why its edges cannot be explained, or ''.

        ``depth``: with what is nested in it, so many levels down.
        """
        templates, untold = Templates(self._reader, self.read), ""
        rows: dict[str, list[ResourceRow]] = {}
        for row in self._reader.tree_resources(stack.root_id) if depth else ():
            rows.setdefault(row.stack_id, []).append(row)
        parts: list[Graph] = []
        for stack_id, path in trees.read_tree(self._reader, stack).list_within(depth).items():
            view = stack if stack_id == stack.id else self._reader.stack_by_id(stack_id)
            definition, why = _load_definition(templates, view)
            untold = untold or why
            known = rows.get(stack_id, []) if depth else self._reader.resource_rows(stack_id)
            found = build_stack_graph(f"Stack {view.name}", known, definition)
            parts.append(found.put_below("/".join(path)) if path else found)
        return parts[0].join(*parts[1:]), untold

    def build_template_graph(self, bundle: Bundle, name: str) -> Graph:
        """Build the graph of a template without a stack; raises ValidationErrors."""
        return build_template_graph(self.read(bundle, Identity("", "template", "")), name)

    def differences(
        self, stack: StackView, first: int | None, second: int | None
    ) -> tuple[ActionView, ActionView, Differences]:
        """Compare two generations; return both and their differences.

        ``second`` None: the present one; ``first`` None: the last one with another template.
        """
        known = self.read_history(stack)
        newer = known.one(stack.generation if second is None else second)
        older = known.find_other_before(newer) if first is None else known.one(first)
        before, after = known.load_input(older), known.load_input(newer)
        hidden = before.hidden | after.hidden | known.list_hidden_parameters()
        before, after = before.with_hidden(hidden), after.with_hidden(hidden)
        names = (f"generation {older.generation}", f"generation {newer.generation}")
        secrets = (redaction.list_searchable_secrets(each.secrets) for each in (before, after))
        also = [*chain.from_iterable(secrets), *known.list_secrets()]
        shown = before.redact(also=also), after.redact(before, also)
        return older, newer, compare(*shown, names)


def _load_definition(templates: Templates, stack: StackView) -> tuple[StackDefinition | None, str]:
    """Load the template of a stack; also return why it cannot be read, or ''."""
    if stack.template_id is None:
        return None, ""
    try:
        identity = Identity(stack.id, stack.name, stack.project)
        return templates.definition(templates.read_stored(stack.template_id), identity), ""
    except ZondaError as error:
        return None, str(error)
