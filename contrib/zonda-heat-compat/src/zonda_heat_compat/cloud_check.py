"""A check of a cloud, service by service: signs in, and asks each for one thing. Makes nothing.

Called by ``zonda cloud check``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .asking import format_reason
from .cloud import Cloud, NoAnswer, NoCloud, find_cloud, get_cloud

WORKS, ABSENT, FAILS = "works", "absent", "fails"
#: The services that Heat's types use: the type in the catalogue, the client plug-ins that need it.
_SERVICES: Final = {
    "compute": "nova",
    "network": "neutron, openstack",
    "image": "glance",
    "block-storage": "cinder",
    "key-manager": "barbican",
    "object-store": "swift",
    "load-balancer": "octavia",
    "dns": "designate",
    "shared-file-system": "manila",
    "alarm": "aodh",
    "workflow": "mistral",
    "message": "zaqar",
    "database": "trove",
    "baremetal": "ironic",
    "container-infrastructure-management": "magnum",
    "application-container": "zun",
    "reservation": "blazar",
}
#: A question to some: the version of the API and a list of at most one. The others say which
#: versions they have.
_QUESTIONS: Final = {
    "compute": (2, "/flavors?limit=1"),
    "network": (2, "/networks?limit=1"),
    "image": (2, "/images?limit=1"),
    "block-storage": (3, "/volumes?limit=1"),
    "key-manager": (1, "/secrets?limit=1"),
}

#: (what is asked, ``works``, ``absent`` or ``fails``, and how or why)
Row = tuple[str, str, str]


def check_cloud(name: str) -> list[Row]:
    """The rows of a cloud, by its section of clouds.yaml; '': that of OS_CLOUD or OS_*.

    Raises NoCloud where none is named.
    """
    cloud = get_cloud(name) if name else find_cloud()
    if cloud is None:
        raise NoCloud()
    return list(_list_rows(cloud))


def _list_rows(cloud: Cloud) -> Iterator[Row]:
    try:
        access = cloud.access
        yield "credentials", WORKS, _describe_access(cloud, access)
    except Exception as error:  # whatever the libraries of a cloud raise
        yield "credentials", FAILS, _format_failure(error)
        return
    yield "identity", WORKS, "keystone: it has given the token"
    for service, clients in _SERVICES.items():
        yield (service, *_ask(cloud, service, clients))


def _describe_access(cloud: Cloud, access: Any) -> str:
    kind = cloud.config.config.get("auth_type") or "password"
    region = cloud.config.get_region_name() or "any"
    roles = ", ".join(access.role_names) or "none"
    return (
        f"{kind}: user {access.username}, project {access.project_name} ({access.project_id}), "
        f"region {region}, roles {roles}"
    )


def _ask(cloud: Cloud, service: str, clients: str) -> tuple[str, str]:
    from keystoneauth1.adapter import Adapter
    from keystoneauth1.exceptions import EndpointNotFound

    where = {
        "service_type": service,
        "interface": cloud.config.get_interface(),
        "region_name": cloud.config.get_region_name(),
    }
    try:
        endpoint = cloud.session.get_endpoint(**where)
        if endpoint is None:
            raise EndpointNotFound()
        if service not in _QUESTIONS:
            cloud.session.get_endpoint_data(**where, discover_versions=True)
            return WORKS, f"{clients}: {endpoint} (its versions only)"
        major, path = _QUESTIONS[service]
        asked = Adapter(
            cloud.session, **where, min_version=(major, 0), max_version=(major, "latest")
        )
        asked.get(path)
        return WORKS, f"{clients}: {endpoint}"
    except EndpointNotFound:
        return ABSENT, f"{clients}: not in the catalogue of the cloud"
    except Exception as error:  # whatever the libraries of a cloud raise
        return FAILS, f"{clients}: {_format_failure(error)}"


def _format_failure(error: Exception) -> str:
    hint = error.hint if isinstance(error, NoAnswer) else ""
    return f"{format_reason(error)} {hint}".strip()
