"""The overcloud of TripleO, as published: 304 stacks from 113 templates, on this machine, no cloud.

It is no part of the project: ``ZONDA_CORPUS`` names the folder of public templates, and what is
counted here is what Heat makes of it. One test, since a create costs seconds: its steps are the
functions above it, each with a command line in a process of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SETTINGS = (
    *("--set", "yaql_iterators=9000"),
    *("--set", "yaql_memory=900000"),
    *("--set", "max_nested_depth=10"),
)
#: Seconds that a command may take on a machine that others are busy with.
LONG = 600.0
LEAF = "parameter_defaults: {MemcachedMaxConnections: 4096}\n"

#: What Heat makes: stacks by depth; resources by type.
DEPTHS = {0: 1, 1: 25, 2: 8, 3: 126, 4: 122, 5: 19, 6: 3}
RESOURCES = 838
OWNERS = {"OS::Heat::ResourceGroup": 5, "OS::Heat::ResourceChain": 5, "a template": 293}
OTHERS = {"OS::Heat::Value": 358, "OS::Heat::DeployedServer": 2, "OS::Heat::None": 175}

#: What an update of the leaf does something to, and the outputs that change with it.
TOUCHED = {
    "ControllerServiceChain",
    "ControllerServiceChain/ServiceChain",
    "ControllerServiceChain/ServiceChain/87",
    "ControllerServiceChainRoleData",
    "ControllerServiceConfigSettings",
    "ControllerConfigData",
    "AllNodesDeploySteps",
}
CHANGED = {"RoleData", "RoleGroupVars"}


@pytest.fixture
def given(corpus: Path) -> list[str | Path]:
    """The options with the template, its environments and settings."""
    found = find_options(corpus)
    if not found:
        pytest.skip(f"the overcloud is not in the corpus of templates at {corpus}")
    return [*found, *SETTINGS]


def find_options(corpus: Path) -> list[str | Path]:
    """The options with the template and its environments; empty where there are none."""
    tripleo, extra = corpus / "tripleo", corpus / "overcloud" / "extra-env.yaml"
    if not (tripleo / "overcloud.yaml").is_file() or not extra.is_file():
        return []
    environments = (
        tripleo / "overcloud-resource-registry-puppet.yaml",
        tripleo / "environments" / "deployed-network-environment.yaml",
        extra,
    )
    options = [word for file in environments for word in ("-e", file)]
    return ["-t", tripleo / "overcloud.yaml", *options]


def shown(zonda: Any, *words: str | Path) -> Any:
    """What a command shows, as data."""
    done = zonda.run(*words, "-f", "json", timeout=LONG)
    return json.loads(done.stdout)


Rows = dict[str, dict[str, Any]]


def resources(zonda: Any) -> Rows:
    """Every resource at any depth by its path."""
    rows = shown(zonda, "stack", "resource", "list", "oc", "--nested-depth", "10")
    return {row["path"]: row for row in rows}


def outputs(zonda: Any) -> dict[str, Any]:
    """The values of all outputs, hidden ones too."""
    found = shown(zonda, "stack", "output", "show", "oc", "--all", "--show-hidden")
    assert not [name for name, each in found.items() if "output_error" in each]
    return {name: each["output_value"] for name, each in found.items()}


def create(zonda: Any, given: list[str | Path]) -> dict[str, Any]:
    """Make it; gives its outputs."""
    done = shown(zonda, "stack", "create", "oc", *given)
    assert done["stack_status"] == "CREATE_COMPLETE"
    return outputs(zonda)


def check_counts(zonda: Any) -> Rows:
    """As many stacks and resources of each kind as Heat has; gives the resources."""
    stacks = shown(zonda, "stack", "list", "--nested")
    owners = {each["Owner"] for each in stacks if each["Owner"]}
    assert Counter(each["Owner"].count("/") if each["Owner"] else 0 for each in stacks) == DEPTHS
    rows = resources(zonda)
    assert len(rows) == RESOURCES
    assert {row["resource_status"] for row in rows.values()} == {"CREATE_COMPLETE"}
    owning = {path for path in rows if f"oc/{path}" in owners}
    assert Counter(kind(rows[path], OWNERS, "a template") for path in owning) == OWNERS
    others = rows.keys() - owning
    assert Counter(kind(rows[path], OTHERS, "OS::Heat::None") for path in others) == OTHERS
    return rows


def kind(row: dict[str, Any], types: dict[str, int], else_: str) -> str:
    """The type of a resource, where it is one of ``types``."""
    name: str = row["resource_type"]
    return name if name in types else else_


def planned(tree: Any, above: str = "") -> dict[str, bool]:
    """The paths of all that a plan does something to; False where it only may."""
    found = {}
    for each in tree["resources"]:
        path = f"{above}{each['name']}"
        is_certain = each["action"] not in ("unchanged", "none")
        if is_certain or each["may_become"]:
            found[path] = is_certain
        for nested in each.get("nested") or ():
            found |= planned(nested, f"{path}/")
    return found


def check_update(zonda: Any, given: list[str | Path], before: dict[str, Any], rows: Rows) -> Rows:
    """One parameter of one leaf: what a plan says, what is touched, and what changes at once."""
    plan = planned(shown(zonda, "stack", "plan", "oc", *given))
    assert {path for path, is_certain in plan.items() if is_certain} <= TOUCHED <= plan.keys()
    assert plan["ControllerServiceChain/ServiceChain/87"]

    done = shown(zonda, "stack", "update", "oc", *given)

    assert done["stack_status"] == "UPDATE_COMPLETE"
    now = resources(zonda)
    assert {path for path in now if now[path] != rows.get(path)} == TOUCHED
    assert now.keys() == rows.keys()
    after = outputs(zonda)
    assert {name for name in after if after[name] != before[name]} == CHANGED
    assert (
        after["RoleGroupVars"]["Controller"]["service_configs"]["memcached::max_connections"]
        == 4096
    )
    return now


def events(zonda: Any) -> int:
    return len(shown(zonda, "stack", "event", "list", "oc", "--nested-depth", "10"))


def check_nothing(zonda: Any, given: list[str | Path], rows: Rows) -> None:
    """An update without a change does nothing but end."""
    count = events(zonda)
    done = shown(zonda, "stack", "update", "oc", *given)
    assert done["stack_status"] == "UPDATE_COMPLETE"
    assert resources(zonda) == rows
    assert events(zonda) == count + 2  # of the stack: begun, ended


def without_ids(values: dict[str, Any]) -> str:
    """The outputs with the ids of the two servers told apart by their order only."""
    text = json.dumps(values, sort_keys=True)
    ids: set[str] = {
        each for role in values["ServerIdData"]["server_ids"].values() for each in role
    }
    assert len(ids) == 2
    for role, found in sorted(values["ServerIdData"]["server_ids"].items()):
        for number, each in enumerate(found):
            text = text.replace(each, f"{role}-{number}")
    return text


def test_the_overcloud_of_tripleo(zonda: Any, tmp_path: Path, given: list[str | Path]) -> None:
    leaf = tmp_path / "leaf.yaml"
    leaf.write_text(LEAF)

    zonda.run("template", "validate", *given, timeout=LONG)
    first = create(zonda, given)
    assert len(first) == 21
    rows = check_counts(zonda)
    rows = check_update(zonda, [*given, "-e", leaf], first, rows)
    check_nothing(zonda, [*given, "-e", leaf], rows)
    zonda.run("stack", "delete", "oc", "-y", timeout=LONG)
    assert shown(zonda, "stack", "list", "--nested") == []

    again = create(zonda, given)

    assert without_ids(again) == without_ids(first)
