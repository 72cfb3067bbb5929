"""Templates, loaded with what is installed. Used by engines and faces alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from zonda.core.functions.yaql_call import make_evaluator
from zonda.core.plugins.manager import Plugins
from zonda.core.template.evaluation.scope import FunctionTable
from zonda.core.template.load import ResourceNode, StackDefinition, load
from zonda.core.template.nested.template_tree import TemplateTree
from zonda.core.template.source.bundle import Bundle, Identity, Limits
from zonda.hooks.context import Clock
from zonda.hooks.runners.references import StackRef

from ..model.lending import BareContext, Lender


class TemplateLoading:
    """Makes definitions (``Loading``). A plain function to whoever calls it; many threads may."""

    def __init__(
        self,
        plugins: Plugins,
        functions: Callable[[str], FunctionTable],
        limits: Limits,
        lender: Lender,
        clock: Clock,
        source: random.Random,
    ) -> None:
        self._plugins = plugins
        self._functions = functions
        self._limits = limits
        self._lender = lender
        self._clock = clock
        self._random = source
        self._yaql = make_evaluator(limits)
        #: The last loaded definition of each stack, as long as it is in use.
        self._latest: WeakValueDictionary[str, TemplateTree] = WeakValueDictionary()

    def __call__(
        self,
        bundle: Bundle,
        identity: Identity,
        previous: Mapping[str, Any] | None,
        check: bool,
        earlier: Any = None,
    ) -> Any:
        """As ``load``, for the engine: equal parts of two versions are shared."""
        known = self._latest.get(identity.stack_id)
        if known is not None:
            bundle = known.intern_texts(bundle)
        definition = self.load(bundle, identity, previous, check, earlier=earlier)
        assert isinstance(definition.family, TemplateTree)
        self._latest[identity.stack_id] = definition.family
        return definition

    def load(
        self,
        bundle: Bundle,
        identity: Identity,
        previous: Mapping[str, Any] | None,
        check: bool,
        *,
        all_given: bool = True,
        with_warnings: bool = False,
        ignore_unknown: bool = False,
        earlier: Any = None,
    ) -> StackDefinition:
        """The definition behind a bundle; with ``check`` its resources are validated as well.

        ``previous``: the values of the parameters before an update. Without ``all_given``
        parameters may lack a value. Raises ValidationErrors; ``with_warnings``: it has them, too.
        ``ignore_unknown``: types and constraints that are not installed are only warned of.
        ``earlier``: what earlier checks of the stack have found well (``checked``).
        """
        return load(
            bundle,
            identity=identity,
            plugins=self._plugins,
            functions=self._functions,
            limits=self._limits,
            previous=previous,
            context_for=self._build_context,
            setup=self._lender.setup,
            is_shared=self._lender.is_shared,
            check=check,
            yaql=self._yaql,
            clock=self._clock,
            all_given=all_given,
            with_warnings=with_warnings,
            ignore_unknown=ignore_unknown,
            earlier=earlier,
        )

    def _build_context(self, node: ResourceNode) -> BareContext:
        owner = node.owner
        assert owner is not None
        identity = owner.identity
        stack = StackRef(identity.stack_id, identity.stack_name, identity.project_id)
        read, paths = owner.referenced_attributes(node.name), owner.referenced_paths(node.name)
        most = self._limits.max_resources_per_stack
        lender = self._lender.lenient if node.cls.simulates else self._lender
        around = (lender, self._clock, self._random)
        return BareContext(*around, stack, most, read, paths, owner.root_stack)
