"""The reset of a project's quota of Neutron when its resource is deleted. Called by ``adapter``.

Heat's type asks Neutron to reset the quota of a project with the name of the resource, which there
is none of, so that the project keeps its limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_PLACE: Final = "heat.engine.resources.openstack.neutron.quota"


@contextmanager
def reset_quota(heat: Any) -> Iterator[None]:
    """Reset the quota of the project that the properties name, after the block."""
    is_quota = type(heat).__module__ == _PLACE and heat.resource_id is not None
    yield
    if is_quota:
        with heat.client_plugin("keystone").ignore_not_found, heat.client_plugin().ignore_not_found:
            project = heat.client_plugin("keystone").get_project_id(heat.properties["project"])
            heat.client().delete_quota(project)
