"""The limit on the number of resources. Called before a template is applied, not for reading."""

from __future__ import annotations

from collections.abc import Sized

from zonda.hooks.errors import TooManyResources

from .sections import RESOURCES


def check_size(resources: Sized, most: int) -> None:
    """Raise TooManyResources where there are more than ``most``."""
    if len(resources) > most:
        raise TooManyResources(len(resources), most, at=(RESOURCES,))
