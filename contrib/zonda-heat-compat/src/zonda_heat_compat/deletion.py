"""The steps that Heat's own types leave out of a deletion, which fails or is not one without them.

Heat's type asks Neutron to reset the quota of a project with the name of the resource, which there
is none of, so that the project keeps its limits. Keystone removes no domain that is enabled, as
domains are unless the template says otherwise, and Heat's type does not disable it. Called by
``adapter``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_QUOTA: Final = "heat.engine.resources.openstack.neutron.quota"
_DOMAIN: Final = "heat.engine.resources.openstack.keystone.domain"


@contextmanager
def complete_deletion(heat: Any) -> Iterator[None]:
    """Disable a domain before the block, and reset the quota of a project after it."""
    place = type(heat).__module__ if heat.resource_id is not None else ""
    if place == _DOMAIN:
        with heat.client_plugin().ignore_not_found:
            heat.client().domains.update(domain=heat.resource_id, enabled=False)
    yield
    if place == _QUOTA:
        with heat.client_plugin("keystone").ignore_not_found, heat.client_plugin().ignore_not_found:
            project = heat.client_plugin("keystone").get_project_id(heat.properties["project"])
            heat.client().delete_quota(project)
