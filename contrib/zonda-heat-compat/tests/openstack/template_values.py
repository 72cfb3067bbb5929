"""The values of parameters, and what else ``template_lives.py`` gives to a strange template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import yaml

#: The registry: types that wait for an agent in a server, where nothing runs.
ENVIRONMENT: Final = """
resource_registry:
  OS::Heat::WaitCondition: OS::Heat::None
  OS::Heat::SoftwareDeployment: OS::Heat::None
  OS::Heat::SoftwareDeployments: OS::Heat::None
  OS::Heat::SoftwareDeploymentGroup: OS::Heat::None
  OS::Heat::StructuredDeployment: OS::Heat::None
  OS::Heat::StructuredDeployments: OS::Heat::None
  OS::Heat::SwiftSignal: OS::Heat::None
  OS::Heat::SwiftSignalHandle: OS::Heat::None
"""
#: The services that the cloud has, and zonda itself.
SERVICES: Final = (
    *("OS::Nova", "OS::Neutron", "OS::Cinder", "OS::Glance", "OS::Keystone", "OS::Barbican"),
    *("OS::Heat", "AWS::AutoScaling", "AWS::EC2", "AWS::CloudFormation"),
)
#: Stands for the id of a server that is there.
SERVER: Final = "SERVER"
#: Values of parameters by pattern of their names; the first that fits counts.
VALUES: Final = (
    (r"net_name$|domain_name$|role_name$", "NEW"),
    (r"security_group_name$", "default"),
    (r"cidr$", "10.77.0.0/24"),
    (r"gateway$", "10.77.0.1"),
    (r"pool_start$", "10.77.0.10"),
    (r"pool_end$", "10.77.0.99"),
    (r"ip_address$", "10.77.0.5"),
    (r"image", "tiny"),
    (r"instance_type|flavor", "m1.small"),
    (r"(public|external|floating)_net", "public"),
    (r"(^|_)subnet(_|$)", "private-subnet"),
    (r"(^|_)net(work)?(_|$)", "private"),
    (r"key(_?name)?$|ssh_key|admin_key", "lives"),
    (r"external_server_id|instance_id", SERVER),
    (r"role$", "member"),
    (r"role_project|default_project", "admin"),
    (r"_domain$", "Default"),
    (r"user_groups", "lives"),
    (r"^region$", "RegionOne"),
    (r"^hosts$", "box1"),
    (r"lengths", "4,5,6"),
    (r"^index$", "0"),
    (r"_url$", "http://127.0.0.1:9/"),
    (r"email", "word@example.org"),
    (r"sa_password$", "Word!word"),
)
_OTHERS: Final = {"number": "1", "boolean": "true", "json": "{}"}


def list_values(template: Any, server: str) -> Iterator[tuple[str, str]]:
    """The values of parameters; ``server``: the id of a server that is there."""
    for name, given in (template.get("parameters") or {}).items():
        rules = given.get("constraints") or [{}]
        allowed = next((each["allowed_values"] for each in rules if "allowed_values" in each), None)
        found = next((value for word, value in VALUES if re.search(word, name.lower())), None)
        new = f"Word{crc32(name.encode()) % 10000:04}"
        value = {"NEW": new, SERVER: server, None: new}.get(found, found)
        if "default" not in given or (found and found != "NEW" and given["type"] == "string"):
            value = _OTHERS.get(given["type"], value) if found is None else value
            yield name, value if value in (allowed or [value]) else str(allowed[0])


def prepare(path: Path, home: Path) -> Any:
    """Write what a template lacks; gives the template.

    Networks of servers, without which Nova makes none today, and files, which are empty.
    """
    text = path.read_text()
    for name in re.findall(r"get_file: *([^\s}]+)", text):
        file = (path.parent / name).resolve()
        if file.is_relative_to(home) and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("#!/bin/sh\n")
    template = yaml.safe_load(text)
    servers = [each for each in list_resources(template) if each.get("type") == "OS::Nova::Server"]
    bare = [each for each in servers if not {"networks", "external_id"} & _list_given(each)]
    for each in bare:
        each.setdefault("properties", {})["networks"] = [{"network": "private"}]
    if bare:
        path.write_text(yaml.safe_dump(template, sort_keys=False))
    return template


def _list_given(resource: Mapping[str, Any]) -> set[str]:
    return {*resource, *(resource.get("properties") or {})}


def list_resources(template: Any) -> Iterator[dict[str, Any]]:
    """The resources, and those that groups make, as the template has them."""
    for each in (template.get("resources") or {}).values():
        yield each
        for key in ("resource_def", "resource"):
            inner = (each.get("properties") or {}).get(key)
            if isinstance(inner, dict):
                yield inner


def list_types(path: Path, template: Any) -> set[str]:
    """The types, also of templates that it names."""
    found: set[str] = set()
    for each in list_resources(template):
        name = str(each.get("type"))
        found.add(name)
        inner = path.parent / name
        if name.endswith(".yaml") and inner.exists():
            found |= list_types(inner, yaml.safe_load(inner.read_text()))
    return found


def list_missing(types: set[str]) -> list[str]:
    """The services of the types that the cloud has not."""
    services = {"::".join(each.split("::")[:2]) for each in types if "::" in each}
    return sorted(services.difference(SERVICES))
