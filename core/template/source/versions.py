"""Template versions: the dates and names that exist, and the features of each.

Called by ``stack.load`` and by the function table. A version is always spoken of by its date; the
names of the later releases stand for dates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import TemplateError, VersionError
from zonda.hooks.text.suggestions import closest

from .diagnostics import suggestion

KEY = "heat_template_version"
HEAT_KEY = "HeatTemplateFormatVersion"
AWS_KEY = "AWSTemplateFormatVersion"
#: The one version of each notation that comes from CloudFormation.
CFN_DATES = {HEAT_KEY: "2012-12-12", AWS_KEY: "2010-09-09"}
#: The versions that are not HOT.
CFN = frozenset(CFN_DATES.values())
#: A template has one of these keys.
KEYS = (KEY, *CFN_DATES)

DATES = (
    "2013-05-23",
    "2014-10-16",
    "2015-04-30",
    "2015-10-15",
    "2016-04-08",
    "2016-10-14",
    "2017-02-24",
    "2017-09-01",
    "2018-03-02",
    "2018-08-31",
    "2021-04-16",
)
NAMES = {
    "newton": "2016-10-14",
    "ocata": "2017-02-24",
    "pike": "2017-09-01",
    "queens": "2018-03-02",
    "rocky": "2018-08-31",
    "wallaby": "2021-04-16",
}

#: From these versions on: conditions and external_id; the modulo constraint; tags of parameters.
CONDITIONS_SINCE = "2016-10-14"
MODULO_SINCE = "2017-02-24"
TAGS_SINCE = "2018-03-02"


def has_conditions(version: str) -> bool:
    """Whether templates of a version (its date) have conditions."""
    return version >= CONDITIONS_SINCE or version == CFN_DATES[AWS_KEY]


def resolve_version(data: Any, text: str = "") -> str:
    """Resolve the version of a template (plain data) to its date; raises TemplateError.

    ``text``: that it was read from. One without any value is an empty template, JSON's null none.
    """
    if data is None and text.strip() != "null":
        data = {}
    if not isinstance(data, Mapping):
        raise TemplateError(
            "The template is not a JSON object or YAML mapping.",
            heat_type="ValueError",
            code="ZON102",
            hint=f'A template begins with "{KEY}: {DATES[-1]}".',
        )
    if not any(key in data for key in KEYS):
        raise TemplateError(
            "Template format version not found.",
            heat_type="ValueError",
            code=VersionError.code,
            hint=suggest_version_key(data) or f'Add "{KEY}: {DATES[-1]}" as the first line.',
        )
    named = [key for key in KEYS if isinstance(data.get(key), str)]
    if len(named) > 1:
        raise _make_error(f"Ambiguous versions ({', '.join(named)})", named[1])
    if not named:
        hint = "Write the version as a date or a name, in quotes if YAML reads it otherwise."
        raise _make_error("Template version was not provided", KEY, hint)
    return _check_version(named[0], data[named[0]])


def suggest_version_key(data: Mapping[Any, Any]) -> str:
    """Suggest a fix if some key looks like the version key in another spelling."""
    alike = ((closest(key, KEYS), key) for key in data)
    return next((f"Did you mean {meant} instead of {key}?" for meant, key in alike if meant), "")


def _check_version(key: str, value: str) -> str:
    if key != KEY and value == CFN_DATES[key]:
        return value
    if key == KEY and value in NAMES:
        return NAMES[value]
    if key == KEY and value in DATES:
        return value
    known = (*DATES, *sorted(NAMES)) if key == KEY else (CFN_DATES[key],)
    one = "should be one of" if key == KEY else "should be"
    text = f'"{key}: {value}". "{key}" {one}: {", ".join(known)}'
    raise _make_error(text, key, suggestion(value, known))


def _make_error(text: str, key: str, hint: str = "") -> VersionError:
    return VersionError(f"The template version is invalid: {text}", at=(key,), hint=hint)
