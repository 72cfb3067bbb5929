"""The client of Heat's own services: of them there are the software configs, which zonda has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zonda.hooks import NotSupported

from heat.common import exception
from heat.rpc import api


class EngineClient:
    """The client of a resource of the type ``kind``; made by ``Resource.rpc_client``."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    @contextmanager
    def ignore_error_by_name(self, name: str) -> Iterator[None]:
        """Leave the block where an error of a class of that name is raised in it."""
        try:
            yield
        except Exception as error:
            if type(error).__name__ != name:
                raise

    def show_software_config(self, cnxt: Any, config_id: str) -> dict[str, Any]:
        """The config of a resource in any stack of the project; raises NotFound."""
        found = cnxt.lent.find_resource(config_id)
        if not hasattr(found, "software_config"):
            raise exception.NotFound(f"There is no software config {config_id}.")
        return {api.SOFTWARE_CONFIG_ID: config_id, **found.software_config()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotSupported(f"{self._kind} needs Heat's engine behind it, which is not here.")
