"""The name until 2015."""

from heat.engine.resources.signal_responder import *  # noqa: F403
