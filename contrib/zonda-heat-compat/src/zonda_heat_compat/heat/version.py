"""The version that Heat's clients tell the services."""

from __future__ import annotations

from importlib.metadata import version


class _Info:
    def version_string(self) -> str:
        return f"zonda-{version('zonda')}"

    release_string = version_string


version_info = _Info()
