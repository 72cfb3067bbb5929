"""The protocols of a definition: what the engine needs of a loaded template."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks.errors import TemplateWarning
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource

ResourceClass = type[Resource]


class Node(Protocol):
    """One resource of a template."""

    name: str
    cls: ResourceClass
    type: str
    requires: frozenset[str]
    deletion_policy: str

    @property
    def fingerprint(self) -> str:
        """A text that changes when the definition does."""

    @property
    def secrecy(self) -> Mapping[str, str]:
        """``open``, ``sealed`` or ``hidden`` for each property that is given."""

    def resolve(self, scope: Any) -> ResourceDefinition:
        """The definition with values."""


class Definition(Protocol):
    """One template with parameters."""

    resources: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @property
    def environment(self) -> Any:
        """The environment."""

    @property
    def parameters(self) -> Any:
        """Values and schemas of the parameters."""

    @property
    def spec(self) -> Any:
        """The spec of a nested stack; None for a root."""

    @property
    def checked(self) -> Collection[str]:
        """The cache keys of the nested stacks that were validated with it."""

    @property
    def root_stack(self) -> str:
        """The name of the stack at the top of the tree."""

    @property
    def family(self) -> Any:
        """The loader of the definitions of nested stacks."""

    def build_child_spec(self, name: str, child: Any, resolved: ResourceDefinition) -> Any:
        """Build the source of a resource's nested stack."""

    def build_signature(
        self,
        name: str,
        types: Collection[str],
        properties: Mapping[str, Any] | None = None,
        marked_by: Any = None,
    ) -> str:
        """Build a text that changes with the nested stack of a resource with these properties."""

    def check_names(
        self, name: str, properties: Mapping[str, Any], secrets: Callable[[], Iterable[Any]]
    ) -> None:
        """Refuse names that would contain secrets; raises TemplateError."""

    @property
    def registry(self) -> Any:
        """The resource registry of the environment, with its restricted actions."""

    @property
    def secrecy(self) -> Any:
        """The static marks of secrets."""

    @property
    def description(self) -> Any:
        """The template's description."""

    @property
    def warnings(self) -> Sequence[TemplateWarning]:
        """The warnings about the template."""

    def referenced_paths(self, name: str) -> frozenset[tuple[Any, ...]]:
        """The attributes that the template reads of a resource, with the keys below them."""

    def referenced_attributes(self, name: str) -> frozenset[str | None]:
        """Attributes that the template reads of a resource; None: all of them."""

    def scope(self, values: Any) -> Any:
        """The scope in which expressions are resolved."""


class Loading(Protocol):
    """Makes definitions: ``stack.load`` with the application's functions, or a test's fake."""

    def __call__(
        self,
        bundle: Bundle,
        identity: Identity,
        previous: Mapping[str, Any] | None,
        check: bool,
        earlier: Any = None,
    ) -> Definition:
        """The definition; with ``check`` the resources are validated as well.

        ``earlier``: what earlier checks of the stack have found well (``checked``).
        """
