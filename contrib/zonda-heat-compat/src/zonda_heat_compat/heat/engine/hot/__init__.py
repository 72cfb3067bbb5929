"""HOT templates."""

from heat.engine.hot.template import HOTemplate

__all__ = ["HOTemplate"]
