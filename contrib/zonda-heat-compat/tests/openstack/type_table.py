"""Write the table of Heat's types for OpenStack: made on a cloud, validated only, or not possible.

    python type_table.py [--cloud admin] [--output ../../docs/openstack-types.md]

``OS_CLIENT_CONFIG_FILE`` names a file with the cloud, whose user is an administrator, and on which
nothing else runs; ``ZONDA_CLOUD`` the folder with ``templates_zonda``. Makes the stacks of its
templates and of ``types_rest.yaml``, looks at each for drift, and removes it; validates the types
that they leave out. Ends with 0 only if each type whose service is there was made and looked at
without a fault, and all others are valid or cannot be had.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from inventory import run_zonda, serve_blob

TEMPLATES: Final = ("full", "barb", "soft", "admin", "more")
MADE, VALIDATED, IMPOSSIBLE, FAILED = "made", "validated only", "not possible", "FAILED"
#: The ends of the reasons for UNKNOWN of types that have no live state.
NO_LIVE_STATE: Final = ("cannot be observed", "cannot tell what it is")
#: Reasons why no template makes a type, where its class does not tell.
REASONS: Final = {
    "OS::Heat::WaitCondition": "waits for a signal from outside",
    "OS::Neutron::FlowClassifier": "the extension sfc of neutron is not on the cloud",
    "OS::Neutron::NetworkGateway": "the extension network-gateway of neutron is not on the cloud",
    "OS::Neutron::PortPair": "the extension sfc of neutron is not on the cloud",
}
#: Values of required properties whose schema does not tell what fits.
VALUES: Final[Mapping[str, Any]] = {
    "address": "10.0.0.1",
    "availability_zone_data": "{}",
    "composite_rule": {"operator": "or", "rules": [{}, {}]},
    "end_date": "2040-01-02 00:00",
    "flavor_data": "{}",
    "peer_cidrs": ["10.0.0.0/24"],
    "start_date": "2040-01-01 00:00",
    "tasks": [{"name": "word", "action": "std.noop"}],
}
#: More properties by type, of which its own check wants some.
MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "OS::Designate::Zone": {"email": "word@example.org"},
    "OS::Neutron::NetworkGateway": {"connections": []},
    "OS::Octavia::Pool": {"listener": "word"},
}
HEAD: Final = """# Heat's types on a cloud

The types `OS::*` of openstack-heat {version}, and what becomes of them on a cloud with the services
{services}.
`python tests/openstack/type_table.py --output docs/openstack-types.md` writes this page.

* **made**: made on that cloud, looked at for drift, of which there was none, and removed. Those of
  `OS::Heat` are zonda's own.
* **validated only**: a template with it is valid; its service, or an extension, is not there.
* **not possible**: with the reason.

{sums}

| type | state | reason |
| --- | --- | --- |
"""

Row = tuple[str, str]


def make_types(cloud: str) -> dict[str, Row]:
    """Make the stacks; the state and its reason by type."""
    folder = Path(os.environ["ZONDA_CLOUD"], "templates_zonda")
    paths = [folder / f"{name}.yaml" for name in TEMPLATES]
    found: dict[str, Row] = {}
    for path in (*paths, Path(__file__).with_name("types_rest.yaml")):
        home = Path(tempfile.mkdtemp(prefix="types-"))
        found |= make_stack(home, cloud, path)
    return found


def make_stack(home: Path, cloud: str, path: Path) -> dict[str, Row]:
    """Make a stack, look at it, and remove it."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return run_zonda(home, cloud, "stack", *words)

    created = run("create", "-t", str(path), "s")
    if run("show", "s").returncode:
        raise SystemExit(f"{path.name} cannot be made: {created.stderr[-2000:]}")
    found: dict[str, Row] = {}
    for each in json.loads(run("resource", "list", "s", "-f", "json").stdout):
        is_made = each["resource_status"] == "CREATE_COMPLETE"
        reason = "" if is_made else f"{path.name}: {each['resource_status']}"
        found[each["resource_type"]] = (MADE if is_made else FAILED, reason)
    for each in json.loads(run("drift", "check", "s", "-f", "json").stdout)["findings"]:
        found[each["resource_type"]] = judge_finding(each)
    for _ in range(2):  # Nova keeps an aggregate's zone while there is a server on the host
        removed = run("delete", "--yes", "s")
        if removed.returncode == 0:
            return found
    raise SystemExit(f"{path.name} cannot be removed: {removed.stderr[-2000:]}")


def judge_finding(finding: Mapping[str, Any]) -> Row:
    """The state of a type of which a check of drift has something to tell."""
    reason = finding["reason"] or ", ".join(each["property"] for each in finding["differences"])
    if finding["verdict"] == "UNKNOWN" and reason.endswith(NO_LIVE_STATE):
        return MADE, "its drift is UNKNOWN: it has no live state"
    return FAILED, f"{finding['verdict']}: {reason}"


def load_classes() -> dict[str, Any]:
    """Heat's classes by type; the reason for those that cannot be used."""
    from zonda.hooks import Unavailable

    from zonda_heat_compat import installed, plugin

    assert plugin, "it lends the name heat"
    looked = {name: each.look() for name, each in sorted(installed.list_types().items())}
    return {
        name: each.reason if isinstance(each, Unavailable) else each
        for name, each in looked.items()
        if name.startswith("OS::")
    }


def judge_rest(name: str, cls: Any, services: set[str], extensions: set[str]) -> Row:
    """The state of a type that no template makes, before its validation."""
    from zonda_heat_compat.cloud_check import _SERVICES

    if isinstance(cls, str):
        return IMPOSSIBLE, cls
    status, heat_class = cls.support_status, cls.heat_class
    if any(each.__name__ == "NoneResource" for each in heat_class.__mro__[1:]):
        return IMPOSSIBLE, f"Heat has kept no more than its name since {status.version}"
    client = heat_class.default_client_name or ""
    named = next((each for each, known in _SERVICES.items() if client in known.split(", ")), "")
    extension = heat_class.required_service_extension
    if named and named not in services:
        return VALIDATED, f"{named} ({client}) is not on the cloud"
    if extension and extension not in extensions:
        return VALIDATED, f"the extension {extension} of {client} is not on the cloud"
    if name in REASONS:
        return VALIDATED, REASONS[name]
    if status.status == "HIDDEN":
        said = f"hidden in Heat since {status.version}: {status.message or ''}"
        return VALIDATED, said.strip(" :")
    return FAILED, "no template makes it"


def validate_types(names: Sequence[str], classes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The types that a template cannot have, with their faults; no cloud is asked."""
    path = Path(tempfile.mkdtemp(prefix="types-"), "all.yaml")
    lines = ["heat_template_version: 2018-08-31", "resources:"]
    for number, name in enumerate(names):
        given = {
            "type": name,
            "properties": {**dict(list_required(classes[name])), **MORE.get(name, {})},
        }
        lines.append(f"  r{number}: {json.dumps(given)}")
    path.write_text("\n".join(lines))
    done = subprocess.run(
        [sys.executable, "-m", "zonda", "template", "validate", str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={key: each for key, each in os.environ.items() if not key.startswith("OS_")},
    )
    for line in done.stderr.splitlines():
        place, is_error, fault = line.partition(": error: ")
        if is_error:
            yield names[int(place.split(":")[1]) - 3], fault


def list_required(cls: Any) -> Iterator[tuple[str, Any]]:
    """Values of the properties that must be given."""
    for name, schema in cls.properties_schema.items():
        if schema.required:
            yield name, VALUES.get(name) or make_value(schema)


def make_value(schema: Any) -> Any:
    """A value that fits, as far as the schema can say."""
    for rule in schema.constraints:
        if hasattr(rule, "allowed"):
            return next(iter(rule.allowed))
        if getattr(rule, "min", None) is not None and schema.type in ("Integer", "Number"):
            return rule.min
    if schema.type == "Map":
        inner = schema.schema if isinstance(schema.schema, Mapping) else {}
        return {key: make_value(each) for key, each in inner.items() if each.required}
    if schema.type == "List":
        item = getattr(schema.schema, "schema", None) or schema.schema
        item = item.get("*", item) if isinstance(item, Mapping) and "*" in item else schema.schema
        return [make_value(item)] if hasattr(item, "type") else ["x"]
    return {"Integer": 1, "Number": 1, "Boolean": True}.get(schema.type, "word")


def format_page(rows: Mapping[str, Row], services: set[str]) -> str:
    """The page of the documentation."""
    counts = Counter(state for state, _ in rows.values())
    sums = ", ".join(f"{counts[state]} {state}" for state in sorted(counts))
    head = HEAD.format(
        version=version("openstack-heat"),
        services=", ".join(sorted(services)),
        sums=f"{len(rows)} types: {sums}.",
    )
    lines = [f"| `{name}` | {state} | {reason} |" for name, (state, reason) in rows.items()]
    return head + "\n".join(lines) + "\n"


def main() -> int:
    """Make, validate, write."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cloud", default="admin")
    parser.add_argument("--output", type=Path, default=Path("/dev/stdout"))
    args = parser.parse_args()
    with serve_blob(Path(tempfile.mkdtemp(prefix="types-"))):
        made = make_types(args.cloud)
    import openstack

    connection = openstack.connect(cloud=args.cloud)
    catalogue = connection.session.auth.get_access(connection.session).service_catalog.catalog
    services = {each["type"] for each in catalogue}
    extensions = {each.alias for each in connection.network.extensions()}
    classes = load_classes()
    rows = {
        name: made.get(name) or judge_rest(name, cls, services, extensions)
        for name, cls in classes.items()
    }
    rest = [name for name, (state, _) in rows.items() if state == VALIDATED]
    rows |= {name: (FAILED, fault) for name, fault in validate_types(rest, classes)}
    args.output.write_text(format_page(rows, services))
    return any(state == FAILED for state, _ in rows.values())


if __name__ == "__main__":
    sys.exit(main())
