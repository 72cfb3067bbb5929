"""Take the templates of a folder through whole lives on a cloud, one after the other.

    python template_lives.py FOLDER [--cloud demo] [--admin admin] [--only PATTERN]

``OS_CLIENT_CONFIG_FILE`` names a file with the clouds. Each template is created, changed in place,
has a resource replaced, is suspended, resumed, checked, looked at for drift twice, and deleted;
then the things in the cloud are counted. ``template_values.py`` says which values parameters get,
and what stands for what a cloud without agents cannot do. Prints a line for each template and the
sums; ends with 0 only if none failed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from inventory import list_things, run_zonda, serve_blob
from template_values import (
    ENVIRONMENT,
    SERVER,
    list_missing,
    list_types,
    list_values,
    prepare,
)

#: The types that only an administrator may make.
ADMIN: Final = (
    *("OS::Keystone::", "OS::Nova::HostAggregate", "OS::Nova::Flavor", "OS::Cinder::Encrypted"),
    *("OS::Cinder::VolumeType", "OS::Neutron::Segment", "OS::Nova::Quota"),
)
#: Properties that a type changes in place, with another value.
CHANGES: Final[dict[str, tuple[str, Any]]] = {
    "OS::Nova::Server": ("metadata", {"changed": "yes"}),
    "OS::Cinder::Volume": ("metadata", {"changed": "yes"}),
    "OS::Neutron::Net": ("name", "changed"),
    "OS::Neutron::Port": ("name", "changed"),
    "OS::Neutron::Router": ("name", "changed"),
    "OS::Neutron::SecurityGroup": ("description", "changed"),
    "OS::Keystone::Project": ("description", "changed"),
    "OS::Keystone::Group": ("description", "changed"),
    "OS::Keystone::Domain": ("description", "changed"),
    "OS::Keystone::User": ("description", "changed"),
    "OS::Keystone::Service": ("description", "changed"),
    "OS::Keystone::Region": ("description", "changed"),
}
#: The types of which one is made anew before the old one is gone, with any name and address.
REPLACED: Final = (
    *("OS::Nova::Server", "OS::Cinder::Volume", "OS::Neutron::SecurityGroup"),
    *("OS::Nova::ServerGroup", "OS::Barbican::Secret", "OS::Barbican::GenericContainer"),
    *("OS::Neutron::QoSPolicy", "OS::Neutron::Trunk", "OS::Keystone::Service"),
)
#: The properties of a server that has no second one beside it on a cloud of one host, in Heat
#: neither: its group keeps them apart, or it has a volume. It is replaced with that.
ALONE: Final = ("scheduler_hints", "block_device_mapping", "block_device_mapping_v2")
#: The errors of templates that cannot be made on this cloud, by Heat neither.
REFUSED: Final = {
    "F18/WordPress_NoKey.yaml": "nics are required",  # AWS::EC2::Instance without a subnet
    "bad.yaml": "No Flavor matching",
    "barbican/container_generic.yaml": "Expiration time is out of date",
    "barbican/order.yaml": "Expiration time is out of date",
    "barbican/secret.yaml": "Expiration time is out of date",
    "big.yaml": "No valid host was found",
    "instance_group.yaml": "nics are required",  # likewise
    "multi_region_hello_world.yaml": "endpoint for orchestration service",
    "software-config/example-templates/example-chef-template.yaml": "is not a map",
}


class Life:
    """The life of one template."""

    def __init__(self, path: Path, template: Any, types: set[str], cloud: str, server: str) -> None:
        self.path, self.template, self.types, self.cloud = path, template, types, cloud
        folder = Path(tempfile.mkdtemp(prefix="life-"))
        self.home = folder / "home"
        (folder / "environment.yaml").write_text(ENVIRONMENT)
        self.given = ["-e", str(folder / "environment.yaml")]
        for name, value in list_values(template, server):
            if "image" in name.lower():
                make_image(value)
            self.given += ["--parameter", f"{name}={value}"]
        self.notes: list[str] = []

    def run(self, action: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run ``zonda stack ACTION``; raises RuntimeError with what it said."""
        done = run_zonda(self.home, self.cloud, "stack", *action.split(), *words)
        if done.returncode and action != "drift check":
            said = (done.stderr or done.stdout).strip().splitlines()
            faults = [line for line in said if "error:" in line] or said[-1:]
            raise RuntimeError(f"{action}: {next(iter(faults), '')[-400:]}")
        return done

    def play(self) -> None:
        """Live, and leave nothing; raises RuntimeError with what went wrong."""
        before, faults = list_things(self.cloud), []
        try:
            self.live()
        except RuntimeError as error:
            faults.append(str(error))
        self.remove()
        left = Counter(kind for kind, _ in list_things(self.cloud) - before)
        if "OS::Barbican::Order" in self.types:
            del left["secrets"]  # Heat's type leaves the secret that Barbican made for its order
        if left:
            faults.append(f"left in the cloud: {dict(left)}")
        if faults:
            raise RuntimeError("; ".join(faults))

    def live(self) -> None:
        """Everything but the end."""
        self.run("create", "-t", str(self.path), *self.given, "s")
        self.look("made")
        self.change()
        self.replace()
        self.run("suspend", "s")
        self.run("resume", "s")
        # Last: it reads the attributes again, and where a floating address has come before the
        # fixed one meanwhile (Heat's type sorts them so) the next update fails, in Heat as well.
        self.run("check", "s")
        self.look("resumed")

    def remove(self) -> None:
        """Remove the stack; what another resource has kept goes at the second attempt."""
        for _ in range(2):
            if run_zonda(self.home, self.cloud, "stack", "show", "s").returncode == 0:
                run_zonda(self.home, self.cloud, "stack", "delete", "--yes", "s")

    def look(self, when: str) -> None:
        """Check for drift, of which there is none."""
        told = self.run("drift check", "s", "-f", "json")
        for each in json.loads(told.stdout)["findings"]:
            named = [one["property"] for one in each["differences"]]
            text = f"{when}: {each['verdict']} {each['resource']} {named or each.get('reason')}"
            if each["verdict"] != "UNKNOWN":
                raise RuntimeError(text)
            self.notes.append(text)

    def update(self, path: Path) -> str:
        """Update the stack; gives the line that counts what was done."""
        said = self.run("update", "-t", str(path), *self.given, "s").stderr.splitlines()
        return next(line for line in reversed(said) if " changed, " in line)

    def change(self) -> None:
        """Change something in place."""
        for name, each in (self.template.get("resources") or {}).items():
            if each.get("type") in CHANGES and "external_id" not in each:
                key, value = CHANGES[each["type"]]
                changed = json.loads(json.dumps(self.template, default=str))
                changed["resources"][name].setdefault("properties", {})[key] = value
                path = self.path.with_name(f"changed-{self.path.name}")
                path.write_text(json.dumps(changed))
                said = self.update(path)
                if " 1 changed, 0 replaced" not in said:
                    raise RuntimeError(f"change: {said}")
                return
        self.notes.append("nothing to change in place")

    def replace(self) -> None:
        """Have a resource replaced, and all that must be replaced with it."""
        chosen = choose_replaced(self.template.get("resources") or {})
        if chosen is None:
            self.notes.append("nothing to replace")
            return
        before = self.list_servers()
        self.run("resource mark unhealthy", "s", chosen)
        said = self.update(self.path)
        if not re.search(r" [1-9]\d* replaced", said):
            raise RuntimeError(f"replace {chosen}: {said}")
        servers = sorted(name for name, _ in before - self.list_servers())
        self.notes.append(f"replaced {chosen}; servers made anew: {', '.join(servers) or 'none'}")

    def list_servers(self) -> set[tuple[str, str]]:
        """The servers of the stack itself, with their ids."""
        listed = json.loads(self.run("resource list", "s", "-f", "json").stdout)
        return {
            (each["resource_name"], each["physical_resource_id"])
            for each in listed
            if each["resource_type"] == "OS::Nova::Server"
        }


def choose_replaced(resources: Mapping[str, Any]) -> str | None:
    """The resource to replace: a server, else what one rests on alone, else any that can be."""
    kinds = {name: each["type"] for name, each in resources.items() if "external_id" not in each}
    ranks = {name: REPLACED.index(kind) + 2 for name, kind in kinds.items() if kind in REPLACED}
    for name in [name for name in ranks if kinds[name] == "OS::Nova::Server"]:
        given = resources[name].get("properties") or {}
        alone = json.dumps([given.get(each) for each in ALONE], default=str)
        if not any(each in given for each in ALONE):
            ranks[name] = 0
            continue
        del ranks[name]
        for used in re.findall(r'"get_resource": "([^"]+)"', alone):
            if used in ranks:
                ranks[used] = 1
    return min(ranks, key=lambda name: (ranks[name], name), default=None)


def make_ground(cloud: str) -> None:
    """Make what the values name: a key pair, a router to the networks, a group where allowed."""
    import openstack

    connection = openstack.connect(cloud=cloud)
    if connection.compute.find_keypair("lives") is None:
        connection.compute.create_keypair(name="lives")
    try:
        if connection.identity.find_group("lives") is None:
            connection.identity.create_group(name="lives")
    except openstack.exceptions.ForbiddenException:
        pass
    network = connection.network
    subnet, public = network.find_subnet("private-subnet"), network.find_network("public")
    if subnet is None or network.find_router("lives") is not None:
        return
    gateway = {"network_id": public.id}
    router = network.create_router(name="lives", external_gateway_info=gateway)
    network.add_interface_to_router(router, subnet_id=subnet.id)


def remove_ground(cloud: str) -> None:
    """Remove the router again."""
    import openstack

    network = openstack.connect(cloud=cloud).network
    router, subnet = network.find_router("lives"), network.find_subnet("private-subnet")
    if router is not None:
        network.remove_interface_from_router(router, subnet_id=subnet.id)
        network.delete_router(router)


@contextmanager
def lend_server(cloud: str, template: Any) -> Iterator[str]:
    """The id of a server, for templates that name one which is there."""
    if not any(value == SERVER for _, value in list_values(template, SERVER)):
        yield ""
        return
    import openstack

    connection = openstack.connect(cloud=cloud)
    server = connection.create_server(
        "lives", image="tiny", flavor="m1.nano", network="private", auto_ip=False, wait=True
    )
    try:
        yield server.id
    finally:
        connection.delete_server(server.id, wait=True)


def make_image(name: str) -> None:
    """Make an image of that name, for everybody."""
    import openstack

    image = openstack.connect(cloud="admin").image
    if image.find_image(name) is None:
        image.create_image(
            name=name,
            data=bytes(65536),
            disk_format="raw",
            container_format="bare",
            visibility="public",
        )


def play(path: Path, name: str, template: Any, clouds: tuple[str, str]) -> str:
    """Play a life, if its services are there; says what became of it."""
    types = list_types(path, template)
    if missing := list_missing(types):
        return f"not played: {', '.join(missing)}"
    cloud = clouds[any(each.startswith(ADMIN) for each in types)]
    begun = time.monotonic()
    try:
        with lend_server(cloud, template) as server:
            life = Life(path, template, types, cloud, server)
            life.play()
    except RuntimeError as error:
        said = str(error)
        is_right = name in REFUSED and REFUSED[name] in said and "left in" not in said
        return f"refused: {said}" if is_right else f"FAILED {said}"
    return f"lived {time.monotonic() - begun:.0f} s {'; '.join(life.notes)}"


def main() -> int:
    """Play the lives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cloud", default="demo")
    parser.add_argument("--admin", default="admin")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="lives-")).resolve()
    copy = home / "1/2/3/4/5/templates"  # what templates change and lack is written beside them
    shutil.copytree(args.folder, copy, copy_function=shutil.copyfile)
    sums = Counter[str]()
    for cloud in (args.cloud, args.admin):
        make_ground(cloud)
    try:
        with serve_blob(home / "web"):
            for path in sorted(copy.rglob("*.yaml"), key=lambda each: each.stat().st_size):
                name = str(path.relative_to(copy))
                if re.search(args.only, name) and "heat_template_version" in path.read_text():
                    template = prepare(path, home)
                    result = play(path, name, template, (args.cloud, args.admin))
                    sums[result.split()[0]] += 1
                    print(f"{name}: {result}", flush=True)
    finally:
        remove_ground(args.cloud)
    print(json.dumps(sums))
    return bool(sums["FAILED"])


if __name__ == "__main__":
    sys.exit(main())
