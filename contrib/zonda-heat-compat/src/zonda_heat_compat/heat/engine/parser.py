"""The name of 2013 for templates."""

from heat.engine.template import Template

__all__ = ["Template"]
