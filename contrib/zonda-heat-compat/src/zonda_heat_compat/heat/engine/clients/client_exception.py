"""What is wrong with what a client was asked for."""

from __future__ import annotations

from heat.common import exception


class EntityMatchNotFound(exception.HeatException):
    """Nothing fits."""

    msg_fmt = "No %(entity)s matching %(args)s."


class EntityUniqueMatchNotFound(EntityMatchNotFound):
    """More than one thing fits."""

    msg_fmt = "More than one %(entity)s matches %(args)s."


class InterfaceNotFound(exception.HeatException):
    """A server has no such interface."""

    msg_fmt = "No network interface found for server %(id)s."
