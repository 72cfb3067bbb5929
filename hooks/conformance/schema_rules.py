"""Rules that need no life: what a class declares. Each raises ``Violated`` with all its faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from ..context import ResourceContext
from ..resources.declaration import accepts_arguments
from ..resources.resource import Resource
from ..schema import examples
from ..schema.constraints import CustomConstraint
from ..schema.properties import Schema
from .suite import NotApplicable, Violated

SchemaRule = Callable[[str, type[Resource], ResourceContext], None]
_NAME: Final = re.compile(r"[A-Za-z][\w.]*(::[A-Za-z][\w.]*)+\Z")
_HANDLERS: Final = {
    **{f"handle_{each}": 0 for each in ("create", "delete", "suspend", "resume", "check")},
    **{f"check_{each}_complete": 1 for each in ("create", "update", "delete", "suspend", "resume")},
    **{f"check_{each}_complete": 1 for each in ("check", "snapshot", "delete_snapshot", "adopt")},
    "handle_update": 3,
    "handle_snapshot": 0,
    "handle_snapshot_delete": 1,
    "handle_delete_snapshot": 1,
    "handle_adopt": 1,
    "handle_find": 1,
    "_resolve_attribute": 1,
}


def check_type_name(name: str, cls: type[Resource], context: ResourceContext) -> None:
    """Raise Violated unless the name has a namespace: ``Acme::Thing``."""
    if not _NAME.match(name):
        raise Violated(f"{name} has no namespace such as Acme::{name}")


def check_descriptions(name: str, cls: type[Resource], context: ResourceContext) -> None:
    """Raise Violated unless the class, every property and every attribute are described."""
    missing = list(_list_undescribed(cls.properties_schema, "property "))
    missing += [
        f"attribute {key}"
        for key, each in cls.attributes_schema.items()
        if not (each.description or "").strip()
    ]
    if not (cls.__dict__.get("__doc__") or "").strip():
        missing.insert(0, f"class {cls.__name__} (its docstring)")
    if missing:
        raise Violated(f"no description: {', '.join(missing)}")


def _list_undescribed(schemata: Mapping[str, Schema], path: str) -> Iterator[str]:
    for key, schema in schemata.items():
        if not (schema.description or "").strip():
            yield f"{path}{key}"
        inside = schema.items.fields if schema.items is not None else schema.fields
        yield from _list_undescribed(inside, f"{path}{key}.")


def check_defaults(name: str, cls: type[Resource], context: ResourceContext) -> None:
    """Raise Violated unless every default keeps the constraints of its own schema."""
    wrong = [
        key
        for key, schema in cls.properties_schema.items()
        if schema.default is not None
        and not examples.is_valid_value(schema, schema.default_value(), context)
    ]
    if wrong:
        raise Violated(f"the default breaks its own rules: {', '.join(wrong)}")


def check_constraints(name: str, cls: type[Resource], context: ResourceContext) -> None:
    """Raise Violated if no plug-in provides a custom constraint that a schema names."""
    named = sorted({each.name for each in _list_custom_constraints(cls.properties_schema.values())})
    missing = [each for each in named if context.constraint(each) is None]
    if missing:
        raise Violated(f"nobody brings the constraint {', '.join(missing)}")


def _list_custom_constraints(schemata: Iterable[Schema]) -> Iterator[CustomConstraint]:
    for schema in schemata:
        yield from (each for each in schema.constraints if isinstance(each, CustomConstraint))
        yield from _list_custom_constraints(
            schema.fields.values() if schema.items is None else [schema.items]
        )


def check_signatures(name: str, cls: type[Resource], context: ResourceContext) -> None:
    """Raise Violated unless handlers take the arguments that the engine passes."""
    wrong = [
        f"{method} must take {count} argument{'s' * (count != 1)} besides self"
        for method, count in _HANDLERS.items()
        if (handler := getattr(cls, method, None)) and not accepts_arguments(handler, count + 1)
    ]
    if wrong:
        raise Violated("; ".join(wrong))


def check_handlers(name: str, cls: type[Resource], context: ResourceContext) -> None:
    """Raise Violated unless the class has the handlers that its declarations need."""
    faults = list(_list_handler_faults(cls))
    if faults:
        raise Violated("; ".join(faults))


def _list_handler_faults(cls: type[Resource]) -> Iterator[str]:
    updatable = [key for key, each in cls.properties_schema.items() if each.update_allowed]
    if updatable and cls.handle_update is Resource.handle_update and not cls.is_nested_stack:
        yield f"{', '.join(updatable)}: update_allowed, but there is no handle_update"
    reads = (cls._resolve_attribute, cls.FnGetAtt)
    if cls.attributes_schema and reads == (Resource._resolve_attribute, Resource.FnGetAtt):
        yield "attributes are declared, but there is no _resolve_attribute"
    if cls.entity and not cls.default_client_name:
        yield "entity is set, but default_client_name is not"
    if cls.start_policy == "find" and not hasattr(cls, "handle_find"):
        yield 'start_policy is "find", but there is no handle_find'
    for action in ("suspend", "resume", "check", "snapshot", "delete_snapshot"):
        if hasattr(cls, f"check_{action}_complete") and not hasattr(cls, f"handle_{action}"):
            yield f"check_{action}_complete is never called without handle_{action}"
    for one, other in (("suspend", "resume"), ("resume", "suspend")):
        if hasattr(cls, f"handle_{one}") and not hasattr(cls, f"handle_{other}"):
            yield f"handle_{one} needs handle_{other}"


def check_support_version(name: str, cls: type[Resource], context: ResourceContext) -> None:
    """Raise NotApplicable where the support status names no version."""
    if not cls.support_status.version:
        raise NotApplicable("say since when", 'support_status = support.Status("1.0")')


#: In the order in which they are shown.
RULES: Final = {
    "type name has a namespace": check_type_name,
    "everything is described": check_descriptions,
    "defaults keep the constraints": check_defaults,
    "custom constraints are there": check_constraints,
    "handlers take their arguments": check_signatures,
    "what is declared is carried out": check_handlers,
    "support status has a version": check_support_version,
}
#: Those that only who writes Python can break.
PYTHON: Final = (check_signatures, check_handlers, check_support_version)
