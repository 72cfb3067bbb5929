"""Resource types: their names, their schemas, a template of one."""

from __future__ import annotations

import re
from typing import Any

from zonda.core.reference.description import (
    describe_attribute,
    describe_property,
    summarize,
)
from zonda.core.reference.installed import get_support_status
from zonda.hooks import support
from zonda.hooks.errors import NotFound
from zonda.hooks.lazy import GeneratedClass, list_without_generating
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.attributes import SHOW, SHOW_SCHEMA

from ...http.calls import Answer, Call
from ...http.errors import BadRequest
from ..values import get_bool
from . import type_templates


def list_types(call: Call) -> Answer:
    """The names of the types that can be used, as the query wants them."""
    status, version = call.get_first("support_status"), call.get_first("version")
    if status is not None and status not in support.SUPPORT_STATUSES:
        known = ", ".join(support.SUPPORT_STATUSES)
        raise BadRequest(f"Invalid support status and should be one of ({known})", "Invalid")
    pattern = _compile_name(call.get_first("name"))
    types = call.project.service.app.plugins.resource_types
    found = [
        name
        for name, cls in sorted(list_without_generating(types).items())
        if (pattern is None or pattern.match(name)) and _fits(cls, status, version)
    ]
    if get_bool(call, "with_description"):
        rows: list[Any] = [
            {"resource_type": name, "description": summarize(types[name])} for name in found
        ]
        return Answer(200, {"resource_types": rows})
    return Answer(200, {"resource_types": found})


def _compile_name(text: str | None) -> re.Pattern[str] | None:
    if text is None:
        return None
    try:
        return re.compile(text[:255])
    except (re.error, RecursionError) as error:
        raise BadRequest(f"Invalid filter name: {error}", "Invalid") from error


def _fits(cls: type[Resource] | GeneratedClass, status: str | None, version: str | None) -> bool:
    known = get_support_status(cls)
    if status is None and known.status == support.HIDDEN:
        return False
    return status in (None, known.status) and (
        version is None or (known.version or "").startswith(version)
    )


def _find_type(call: Call) -> tuple[str, type[Resource]]:
    name = call.path["type"]
    cls = call.project.service.app.plugins.resource_types.get(name)
    if cls is None:
        raise NotFound("Resource Type", name)
    return name, cls


def show_type(call: Call) -> Answer:
    """The schema of one type."""
    name, cls = _find_type(call)
    attributes = {key: describe_attribute(each) for key, each in cls.attributes_schema.items()}
    attributes.setdefault(SHOW, describe_attribute(SHOW_SCHEMA))
    shown: dict[str, Any] = {
        "resource_type": name,
        "properties": {key: describe_property(each) for key, each in cls.properties_schema.items()},
        "attributes": attributes,
        "support_status": cls.support_status.to_dict(),
    }
    if get_bool(call, "with_description"):
        shown["description"] = summarize(cls)
    return Answer(200, shown)


def show_type_template(call: Call) -> Answer:
    """A template with one resource of a type, every property a parameter."""
    name, cls = _find_type(call)
    kind = call.get_first("template_type") or "cfn"
    if kind not in ("cfn", "hot"):
        raise BadRequest(f"Template type is not supported: {kind}")
    build = type_templates.build_hot if kind == "hot" else type_templates.build_cfn
    return Answer(200, build(name, cls))
