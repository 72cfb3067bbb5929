"""Environments as text."""

from __future__ import annotations

from typing import Any

from heat.common import template_format

SECTIONS = (
    PARAMETER_DEFAULTS,
    PARAMETERS,
    RESOURCE_REGISTRY,
    ENCRYPTED_PARAM_NAMES,
    EVENT_SINKS,
    PARAMETER_MERGE_STRATEGIES,
) = (
    "parameter_defaults",
    "parameters",
    "resource_registry",
    "encrypted_param_names",
    "event_sinks",
    "parameter_merge_strategies",
)


def parse(env_str: str) -> dict[str, Any]:
    data: dict[str, Any] = template_format.simple_parse(env_str)
    for section in data:
        if section not in SECTIONS:
            raise ValueError(f'environment has wrong section "{section}"')
    return data


def default_for_missing(env: dict[str, Any]) -> None:
    for section in SECTIONS:
        if section not in env:
            env[section] = [] if section in (ENCRYPTED_PARAM_NAMES, EVENT_SINKS) else {}
