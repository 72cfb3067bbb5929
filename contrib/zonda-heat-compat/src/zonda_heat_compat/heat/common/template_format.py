"""Templates as text: read and written as YAML or JSON."""

from __future__ import annotations

import collections
import json
from typing import Any

import yaml


class yaml_loader(yaml.SafeLoader):
    """YAML whose dates stay text, as templates have them."""


class yaml_dumper(yaml.SafeDumper):
    """YAML that keeps the order of an OrderedDict."""


yaml_loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if not tag.endswith(":timestamp")]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
yaml_dumper.add_representer(
    collections.OrderedDict,
    lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data.items()),
)

#: The names of 2013.
HOT_VERSION, CFN_VERSION = "heat_template_version", "AWSTemplateFormatVersion"


def simple_parse(tmpl_str: str, tmpl_url: str | None = None) -> Any:
    try:
        data = json.loads(tmpl_str)
    except ValueError:
        try:
            data = yaml.load(tmpl_str, yaml_loader)
        except yaml.YAMLError as error:
            where = f" {tmpl_url}" if tmpl_url else ""
            raise ValueError(f"Error parsing template{where}: {error}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ValueError(
            f"The template is not a JSON object or YAML mapping, but {type(data).__name__}."
        )
    return data


def parse(tmpl_str: str, tmpl_url: str | None = None) -> Any:
    data = simple_parse(tmpl_str, tmpl_url)
    if not any(key in data for key in (HOT_VERSION, CFN_VERSION, "HeatTemplateFormatVersion")):
        raise ValueError("Template format version not found.")
    return data


def validate_template_limit(contain_str: str) -> None:
    if len(contain_str) > 524288:
        raise ValueError("The template is larger than 524288 bytes")
