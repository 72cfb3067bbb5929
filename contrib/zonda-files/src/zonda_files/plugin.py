"""The plug-in of the entry point: the resource types of this package."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks import Resource, hookimpl

from .command import Command
from .directory import Directory
from .file import File


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The types for the machine that zonda runs on."""
    return {
        "Zonda::Files::Command": Command,
        "Zonda::Files::Directory": Directory,
        "Zonda::Files::File": File,
    }
