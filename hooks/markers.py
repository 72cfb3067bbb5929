"""The two pluggy markers. ``from zonda.hooks import hookimpl`` is all a plug-in needs."""

import pluggy

PROJECT = "zonda"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
