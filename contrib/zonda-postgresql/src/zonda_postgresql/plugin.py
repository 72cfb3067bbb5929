"""The plug-in of the entry point: the resource types of this package."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks import Resource, hookimpl

from .database import Database
from .extension import Extension
from .grant import Grant
from .role import Role
from .schema import Schema
from .server import Server


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The types for PostgreSQL servers."""
    return {
        "Zonda::PostgreSQL::Database": Database,
        "Zonda::PostgreSQL::Extension": Extension,
        "Zonda::PostgreSQL::Grant": Grant,
        "Zonda::PostgreSQL::Role": Role,
        "Zonda::PostgreSQL::Schema": Schema,
        "Zonda::PostgreSQL::Server": Server,
    }
