"""The name until 2015."""

from heat.engine.resources.stack_user import *  # noqa: F403
