"""The merge of an update's input with what a stack has, as Heat's PATCH does it.

In the pool, for each proposal: so of two updates at once the second is merged with what the first
has stored. What a document of the update has wrong is left to whoever loads the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.store.values.jsontext import dumps
from zonda.core.template.environment import environment as environments
from zonda.core.template.environment import zonda_section
from zonda.core.template.environment.environment import Environment
from zonda.core.template.parameters.parameters import Parameters, ParameterSchema
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.core.template.source.document import load_document
from zonda.core.template.source.versions import resolve_version
from zonda.hooks import records
from zonda.hooks.errors import TemplateError

from ..model.definition import Definition


def format_environment(known: Environment) -> dict[str, Any]:
    """An environment as one document, without its parameters."""
    return {
        environments.DEFAULTS: dict(known.defaults),
        environments.REGISTRY: dict(known.registry),
        environments.ENCRYPTED: sorted(known.encrypted),
        **{key: dict(said) for key, said in ((environments.OWN, known.own),) if said},
        **({environments.REQUIRES: dict(known.requires)} if known.requires else {}),
    }


def merge_bundles(old: Bundle, before: Definition, new: Bundle) -> Bundle:
    """``new`` on top of a stack's ``old`` bundle, whose definition is ``before``.

    Parameters of the stack that the template has no more are dropped; environments are merged
    section by section, those of ``new`` among themselves by their strategies.
    """
    most = before.family.load_context.limits.max_template_bytes
    known = before.environment
    schemas = _declare(new, most) if new.template else before.parameters.schemas
    kept = {name: value for name, value in known.parameters.items() if name in schemas}
    found = records.replace(
        new,
        template=new.template or old.template,
        template_file=new.template_file if new.template else old.template_file,
        files={**old.files, **new.files},
        links={**old.links, **new.links},
    )
    if new.environment is None and not new.environment_files:
        documents: dict[str, Any] = {
            "environment": old.environment,
            "environment_files": old.environment_files,
        }
        if len(kept) < len(known.parameters):
            whole = dumps(format_environment(known))
            documents = {"environment": whole, "environment_files": ()}
        parameters = {**kept, **new.parameters}
        return records.replace(found, **documents, parameters=parameters, parameters_win=True)
    faults: list[TemplateError] = []
    loaded = environments.load_environment(found, schemas, faults, max_bytes=most)
    if faults:
        return found
    return records.replace(
        found,
        environment=dumps(_merge_environments(known, loaded)),
        environment_files=(),
        parameters={**kept, **loaded.parameters},
        parameters_win=True,
    )


def _declare(bundle: Bundle, most: int) -> Mapping[str, ParameterSchema]:
    """The parameters that a new template declares."""
    parameters = Parameters(Identity("", "", ""))
    document = load_document(bundle.template, bundle.template_file, max_bytes=most)
    parameters.declare(document, resolve_version(document.data, document.text), [])
    return parameters.schemas


def _merge_environments(old: Environment, new: Environment) -> dict[str, Any]:
    found, more = format_environment(old), format_environment(new)
    for section, value in more.items():
        known = found.get(section)
        if section == environments.OWN:
            found[section] = zonda_section.merge_sections(known or {}, value)
        elif isinstance(value, list):
            found[section] = sorted({*known, *value}) if known else value
        else:
            found[section] = _merge_maps(known or {}, value)
    return found


def _merge_maps(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """One map on top of another: of a registry also its rules for single resources."""
    merged = dict(old)
    for name, value in new.items():
        known = merged.get(name)
        if name == "resources" and isinstance(known, Mapping) and isinstance(value, Mapping):
            value = _merge_maps(known, value)
        merged[name] = value
    return merged
