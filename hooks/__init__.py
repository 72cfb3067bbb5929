"""The public API: all that a plug-in imports, in one place.

``from zonda.hooks import hookimpl, Resource, properties`` and so on. ``resource``, ``properties``,
``attributes``, ``constraints``, ``support`` and ``translation`` are modules with the names that
Heat's plug-in guide uses, so that a plug-in ports by changing its imports. Beside these names only
``runners``, ``settings``, ``events``, ``http``, ``processes``, ``testing`` and ``conformance`` are
public; everything else here is how they are made, and may move.

Each name is imported at its first use: ``zonda --help`` waits for none of them. Standard library
and pluggy only; no socket, file, session or thread outside of ``http`` and ``processes``, which no
other part imports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .context import Clock, Operation, ResourceContext
    from .declared_types import TypeDocument, TypeText
    from .errors import (
        ActionInProgress,
        ActionNotSupported,
        CircularDependency,
        Conflict,
        InvalidTemplateAttribute,
        NoActionRequired,
        NotFound,
        NotReady,
        NotSupported,
        Path,
        Permanent,
        PluginError,
        RequestError,
        ResourceFailure,
        SchemaError,
        StoreError,
        TemplateError,
        TooManyResources,
        UnknownReference,
        UpdateReplace,
        UsageError,
        ValidationErrors,
        VersionError,
        ZondaError,
        show_path,
    )
    from .events import EventSink
    from .function import ABSENT, Function, Source, resolve_value, sources
    from .lazy import LazyFactory, lazy_types
    from .markers import hookimpl, hookspec
    from .resources import resource
    from .resources.definition import ResourceDefinition
    from .resources.dependencies import Dependencies, Neighbour
    from .resources.live_state import (
        Comparison,
        OpaqueState,
        Partial,
        check_live_state,
        compare_live_state,
        is_same_value,
    )
    from .resources.nested_stack import (
        CONVERGE,
        Child,
        ChildTemplate,
        Converge,
        Member,
        NestedStack,
        member_not_found,
    )
    from .resources.property_errors import PropertyErrors
    from .resources.resource import Resource, ResourceState
    from .resources.workflow_run import (
        KEY_NAMESPACE,
        WORKFLOW_FAILED,
        RunToken,
        WorkflowRun,
        describe_runner,
        new_token,
        to_error,
        to_json,
        wait_until_next,
    )
    from .runners.base import WorkflowRunner
    from .schema import attributes, constraints, properties, support, translation
    from .schema.attributes import select
    from .schema.constraints import BaseCustomConstraint, Constraint
    from .schema.conversion import to_boolean, to_kind, to_number
    from .schema.properties import Properties
    from .schema.support import Status, SupportStatus, Unavailable
    from .schema.translation import TranslationRule
    from .specs import TypeReader
    from .text.patterns import full_match
    from .text.redaction import MASK, SHORTEST, redact, redact_message, secret_texts
    from .text.sanitize import (
        describe_exception,
        join_sentences,
        require_json,
        require_text,
        truncate_middle,
    )
    from .text.suggestions import closest, suggestion

#: The modules of Heat's guide, and the folder of each.
_GUIDE = {
    "attributes": "schema",
    "constraints": "schema",
    "properties": "schema",
    "resource": "resources",
    "support": "schema",
    "translation": "schema",
}
#: The module of every other name.
_MODULES = {
    name: module
    for module, names in {
        "context": "Clock Operation ResourceContext",
        "declared_types": "TypeDocument TypeText",
        "errors": (
            "ActionInProgress ActionNotSupported CircularDependency Conflict "
            "InvalidTemplateAttribute NoActionRequired NotFound NotReady "
            "NotSupported Path Permanent PluginError RequestError ResourceFailure "
            "SchemaError StoreError TemplateError TooManyResources UnknownReference "
            "UpdateReplace UsageError ValidationErrors VersionError ZondaError "
            "show_path"
        ),
        "events": "EventSink",
        "function": "ABSENT Function Source resolve_value sources",
        "lazy": "LazyFactory lazy_types",
        "markers": "hookimpl hookspec",
        "resources.definition": "ResourceDefinition",
        "resources.dependencies": "Dependencies Neighbour",
        "resources.live_state": (
            "Comparison OpaqueState Partial check_live_state compare_live_state is_same_value"
        ),
        "resources.nested_stack": (
            "CONVERGE Child ChildTemplate Converge Member NestedStack member_not_found"
        ),
        "resources.property_errors": "PropertyErrors",
        "resources.resource": "Resource ResourceState",
        "resources.workflow_run": (
            "KEY_NAMESPACE RunToken WORKFLOW_FAILED WorkflowRun describe_runner "
            "new_token to_error to_json wait_until_next"
        ),
        "runners.base": "WorkflowRunner",
        "schema.attributes": "select",
        "schema.constraints": "BaseCustomConstraint Constraint",
        "schema.conversion": "to_boolean to_kind to_number",
        "schema.properties": "Properties",
        "schema.support": "Status SupportStatus Unavailable",
        "schema.translation": "TranslationRule",
        "specs": "TypeReader",
        "text.patterns": "full_match",
        "text.redaction": "MASK SHORTEST redact redact_message secret_texts",
        "text.sanitize": (
            "describe_exception join_sentences require_json require_text truncate_middle"
        ),
        "text.suggestions": "closest suggestion",
    }.items()
    for name in names.split()
}

__all__ = [
    "ABSENT",
    "CONVERGE",
    "KEY_NAMESPACE",
    "MASK",
    "SHORTEST",
    "WORKFLOW_FAILED",
    "ActionInProgress",
    "ActionNotSupported",
    "BaseCustomConstraint",
    "Child",
    "ChildTemplate",
    "CircularDependency",
    "Clock",
    "Comparison",
    "Conflict",
    "Constraint",
    "Converge",
    "Dependencies",
    "EventSink",
    "Function",
    "InvalidTemplateAttribute",
    "LazyFactory",
    "Member",
    "Neighbour",
    "NestedStack",
    "NoActionRequired",
    "NotFound",
    "NotReady",
    "NotSupported",
    "OpaqueState",
    "Operation",
    "Partial",
    "Path",
    "Permanent",
    "PluginError",
    "Properties",
    "PropertyErrors",
    "RequestError",
    "Resource",
    "ResourceContext",
    "ResourceDefinition",
    "ResourceFailure",
    "ResourceState",
    "RunToken",
    "SchemaError",
    "Source",
    "Status",
    "StoreError",
    "SupportStatus",
    "TemplateError",
    "TooManyResources",
    "TranslationRule",
    "TypeDocument",
    "TypeReader",
    "TypeText",
    "Unavailable",
    "UnknownReference",
    "UpdateReplace",
    "UsageError",
    "ValidationErrors",
    "VersionError",
    "WorkflowRun",
    "WorkflowRunner",
    "ZondaError",
    "attributes",
    "check_live_state",
    "closest",
    "compare_live_state",
    "constraints",
    "describe_exception",
    "describe_runner",
    "full_match",
    "hookimpl",
    "hookspec",
    "is_same_value",
    "join_sentences",
    "lazy_types",
    "member_not_found",
    "new_token",
    "properties",
    "redact",
    "redact_message",
    "require_json",
    "require_text",
    "resolve_value",
    "resource",
    "secret_texts",
    "select",
    "show_path",
    "sources",
    "suggestion",
    "support",
    "to_boolean",
    "to_error",
    "to_json",
    "to_kind",
    "to_number",
    "translation",
    "truncate_middle",
    "wait_until_next",
]


def __getattr__(name: str) -> Any:
    """Import what carries ``name``, at its first use."""
    if name in _GUIDE:
        return import_module(f".{_GUIDE[name]}.{name}", __name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return value
