"""Template versions: which dates and names exist, and what each of them allows.

Called by ``stack.load`` and by the function table. A version is always spoken of by its date; the
names of the later releases stand for dates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import TemplateError, VersionError

from .faults import near

KEY = "heat_template_version"
_CFN_KEY = "AWSTemplateFormatVersion"

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


def version_of(data: Any) -> str:
    """The date of the version that a template (its plain data) names; raises TemplateError."""
    if not isinstance(data, Mapping):
        raise TemplateError(
            "The template is not a JSON object or YAML mapping.",
            heat_type="ValueError",
            code="ZON102",
            hint=f'A template begins with "{KEY}: {DATES[-1]}".',
        )
    if KEY in data and _CFN_KEY in data:
        raise VersionError(f"Ambiguous versions ({KEY}, {_CFN_KEY})", at=(_CFN_KEY,))
    if KEY not in data:
        raise TemplateError(
            "Template format version not found.",
            heat_type="ValueError",
            code=VersionError.code,
            hint=near_key(data) or f'Add "{KEY}: {DATES[-1]}" as the first line.',
        )
    return _known(data[KEY])


def near_key(data: Mapping[Any, Any]) -> str:
    """A hint if some key looks like the version key in another spelling."""
    if _CFN_KEY in data:
        return "CloudFormation templates are not supported: write a HOT template."
    return next(
        (f"Did you mean {KEY} instead of {key}?" for key in data if str(key).lower() == KEY), ""
    )


def _known(value: Any) -> str:
    if not isinstance(value, str):
        raise VersionError(
            "The template version is invalid: Template version was not provided",
            at=(KEY,),
            hint="Write the version as a date or a name, in quotes if YAML reads it otherwise.",
        )
    if value in NAMES:
        return NAMES[value]
    if value not in DATES:
        known = (*DATES, *sorted(NAMES))
        raise VersionError(
            f'The template version is invalid: "{KEY}: {value}". '
            f'"{KEY}" should be one of: {", ".join(known)}',
            at=(KEY,),
            hint=near(value, known),
        )
    return value
