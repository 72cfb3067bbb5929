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
from zonda.hooks.errors import NotSupported
from zonda.hooks.runners.base import WorkflowRunner
from zonda.hooks.runners.references import StackRef

from ..model.lending import Lender


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
        #: What was loaded last of each stack, as long as somebody keeps it.
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
            check=check,
            yaql=self._yaql,
            clock=self._clock,
            all_given=all_given,
            with_warnings=with_warnings,
            ignore_unknown=ignore_unknown,
            earlier=earlier,
        )

    def _build_context(self, node: ResourceNode) -> CheckContext:
        owner = node.owner
        assert owner is not None
        identity = owner.identity
        stack = StackRef(identity.stack_id, identity.stack_name, identity.project_id)
        read, paths = owner.referenced_attributes(node.name), owner.referenced_paths(node.name)
        made = CheckContext(self._lender, self._clock, self._random, stack, read, paths)
        made.max_resources = self._limits.max_resources_per_stack
        return made


class CheckContext:
    """The context of a resource while its template is checked: nothing exists or is stored."""

    operation = None
    assigned_workflow = None
    stack_timeout = 3600.0
    max_resources = Limits().max_resources_per_stack

    def __init__(
        self,
        lender: Lender,
        clock: Clock,
        source: random.Random,
        stack: StackRef,
        read: frozenset[str | None] = frozenset(),
        paths: frozenset[tuple[Any, ...]] = frozenset(),
    ) -> None:
        self._lender = lender
        self.clock = clock
        self.random = source
        self.stack = stack
        self._read = read
        self._paths = paths
        self.observation: dict[str, Any] = {}

    def save_resource_id(self, value: str | None) -> None:
        """Refused."""
        raise _build_refusal()

    def save_data(self, key: str, value: str | None, redact: bool) -> None:
        """Refused."""
        raise _build_refusal()

    def save_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Refused."""
        raise _build_refusal()

    def progress(self, message: str) -> None:
        """Do nothing."""

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The runner for a workflow."""
        return self._lender.runner(workflow)

    def client(self, name: str) -> Any:
        """A client object."""
        return self._lender.client(name)

    def client_plugin(self, name: str) -> Any:
        """A client plug-in."""
        return self._lender.client_plugin(name)

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``."""
        return self._lender.full_match(pattern, text)

    def constraint(self, name: str) -> Any:
        """A custom constraint, or None."""
        return self._lender.constraint(name)

    def secret(self, reference: str) -> str:
        """Refused: nothing is sent."""
        raise _build_refusal()

    def check_secret(self, reference: str) -> None:
        """Raise UsageError unless the secret may be named."""
        self._lender.check_secret(reference)

    def hidden_properties(self) -> frozenset[str]:
        """Nothing exists."""
        return frozenset()

    def find_resource(self, reference: str) -> Any:
        """Nothing exists."""
        return None

    def required_resources(self) -> Mapping[str, Any]:
        """Nothing exists."""
        return {}

    def child(self) -> None:
        """Nothing exists."""

    def signal(self, reference: str, details: Mapping[str, Any], missing: str = "") -> None:
        """Refused."""
        raise _build_refusal()

    def referenced_attributes(self) -> frozenset[str | None]:
        """The attributes of the resource that the template reads."""
        return self._read

    def referenced_paths(self) -> frozenset[tuple[Any, ...]]:
        """The same with what follows the attributes."""
        return self._paths


def _build_refusal() -> NotSupported:
    return NotSupported("A resource cannot store anything while its template is checked.")
