"""The name until 2015."""

from heat.engine.resources.stack_resource import *  # noqa: F403
