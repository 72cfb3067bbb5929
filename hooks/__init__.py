"""The public API: all that a plug-in imports, in one place.

``from zonda.hooks import hookimpl, Resource, properties`` and so on. ``resource``, ``properties``,
``attributes``, ``constraints``, ``support`` and ``translation`` are modules with the names that
Heat's plug-in guide uses, so that a plug-in ports by changing its imports. Beside these names only
``runners``, ``settings``, ``events``, ``policies``, ``http``, ``processes``, ``testing`` and
``conformance`` are public; everything else here is how they are made, and may move.

Each name is imported at its first use: ``zonda --help`` waits for none of them. Standard library
and pluggy only; no socket, file, session or thread outside of ``http`` and ``processes``, which no
other part imports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .context import Clock as Clock
    from .context import Operation as Operation
    from .context import ResourceContext as ResourceContext
    from .declared_types import TypeDocument as TypeDocument
    from .declared_types import TypeText as TypeText
    from .errors import ActionInProgress as ActionInProgress
    from .errors import ActionNotSupported as ActionNotSupported
    from .errors import CircularDependency as CircularDependency
    from .errors import Conflict as Conflict
    from .errors import InvalidTemplateAttribute as InvalidTemplateAttribute
    from .errors import NoActionRequired as NoActionRequired
    from .errors import NotFound as NotFound
    from .errors import NotReady as NotReady
    from .errors import NotSupported as NotSupported
    from .errors import Path as Path
    from .errors import Permanent as Permanent
    from .errors import PluginError as PluginError
    from .errors import RequestError as RequestError
    from .errors import ResourceFailure as ResourceFailure
    from .errors import SchemaError as SchemaError
    from .errors import StoreError as StoreError
    from .errors import TemplateError as TemplateError
    from .errors import TooManyResources as TooManyResources
    from .errors import UnknownReference as UnknownReference
    from .errors import UpdateReplace as UpdateReplace
    from .errors import UsageError as UsageError
    from .errors import ValidationErrors as ValidationErrors
    from .errors import VersionError as VersionError
    from .errors import ZondaError as ZondaError
    from .errors import show_path as show_path
    from .events import EventSink as EventSink
    from .function import ABSENT as ABSENT
    from .function import Function as Function
    from .function import Source as Source
    from .function import resolve_value as resolve_value
    from .function import sources as sources
    from .lazy import Fallback as Fallback
    from .lazy import LazyFactory as LazyFactory
    from .lazy import generate_types as generate_types
    from .lazy import lazy_types as lazy_types
    from .markers import hookimpl as hookimpl
    from .markers import hookspec as hookspec
    from .resources import resource as resource
    from .resources.definition import ResourceDefinition as ResourceDefinition
    from .resources.dependencies import Dependencies as Dependencies
    from .resources.dependencies import Neighbour as Neighbour
    from .resources.live_state import Comparison as Comparison
    from .resources.live_state import OpaqueState as OpaqueState
    from .resources.live_state import Partial as Partial
    from .resources.live_state import check_live_state as check_live_state
    from .resources.live_state import compare_live_state as compare_live_state
    from .resources.nested_stack import CONVERGE as CONVERGE
    from .resources.nested_stack import Child as Child
    from .resources.nested_stack import ChildTemplate as ChildTemplate
    from .resources.nested_stack import Converge as Converge
    from .resources.nested_stack import Member as Member
    from .resources.nested_stack import NestedStack as NestedStack
    from .resources.nested_stack import member_not_found as member_not_found
    from .resources.property_errors import PropertyErrors as PropertyErrors
    from .resources.resource import Resource as Resource
    from .resources.resource import ResourceState as ResourceState
    from .resources.workflow_run import KEY_NAMESPACE as KEY_NAMESPACE
    from .resources.workflow_run import WORKFLOW_FAILED as WORKFLOW_FAILED
    from .resources.workflow_run import RunToken as RunToken
    from .resources.workflow_run import WorkflowRun as WorkflowRun
    from .resources.workflow_run import describe_runner as describe_runner
    from .resources.workflow_run import new_token as new_token
    from .resources.workflow_run import to_error as to_error
    from .resources.workflow_run import to_json as to_json
    from .resources.workflow_run import wait_until_next as wait_until_next
    from .runners.base import WorkflowRunner as WorkflowRunner
    from .schema import attributes as attributes
    from .schema import constraints as constraints
    from .schema import properties as properties
    from .schema import support as support
    from .schema import translation as translation
    from .schema.attributes import select as select
    from .schema.constraints import BaseCustomConstraint as BaseCustomConstraint
    from .schema.constraints import Constraint as Constraint
    from .schema.conversion import to_boolean as to_boolean
    from .schema.conversion import to_kind as to_kind
    from .schema.conversion import to_number as to_number
    from .schema.properties import Properties as Properties
    from .schema.properties import is_same_value as is_same_value
    from .schema.support import Status as Status
    from .schema.support import SupportStatus as SupportStatus
    from .schema.support import Unavailable as Unavailable
    from .schema.translation import TranslationRule as TranslationRule
    from .specs import TypeReader as TypeReader
    from .text.patterns import full_match as full_match
    from .text.redaction import MASK as MASK
    from .text.redaction import SHORTEST as SHORTEST
    from .text.redaction import redact as redact
    from .text.redaction import redact_message as redact_message
    from .text.redaction import secret_texts as secret_texts
    from .text.sanitize import describe_exception as describe_exception
    from .text.sanitize import join_sentences as join_sentences
    from .text.sanitize import require_json as require_json
    from .text.sanitize import require_text as require_text
    from .text.sanitize import truncate_middle as truncate_middle
    from .text.suggestions import closest as closest
    from .text.suggestions import suggestion as suggestion

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
        "lazy": "Fallback LazyFactory generate_types lazy_types",
        "markers": "hookimpl hookspec",
        "resources.definition": "ResourceDefinition",
        "resources.dependencies": "Dependencies Neighbour",
        "resources.live_state": (
            "Comparison OpaqueState Partial check_live_state compare_live_state"
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
        "schema.properties": "Properties is_same_value",
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

__all__ = sorted([*_GUIDE, *_MODULES])


def __getattr__(name: str) -> Any:
    """Import what carries ``name``, at its first use."""
    if name in _GUIDE:
        return import_module(f".{_GUIDE[name]}.{name}", __name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return value
