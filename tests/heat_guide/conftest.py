"""The fixture for authors of plug-ins, which an installed zonda brings by itself."""

from zonda.core.testing.pytest_plugin import zonda_plugin_dirs, zonda_stack

__all__ = ["zonda_plugin_dirs", "zonda_stack"]
