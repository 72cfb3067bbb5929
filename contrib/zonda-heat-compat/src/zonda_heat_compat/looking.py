"""Looks at a thing in the cloud that may be gone. Used by ``observers`` and ``observed_server``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from heat.common import exception


def raise_gone(heat: Any) -> NoReturn:
    """Raise what says that the thing behind a resource is gone."""
    raise exception.EntityNotFound(entity="Resource", name=heat.name)


def show(heat: Any, ask: Callable[[], Any], client: str | None = None) -> Any:
    """The answer; raises EntityNotFound where the service (``client``) has it no more."""
    try:
        return ask()
    except Exception as error:
        if heat.client_plugin(client).is_not_found(error):
            raise_gone(heat)
        raise
