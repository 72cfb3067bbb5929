"""Loading of templates for engines that are made without an application."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import Plugins
from zonda.core.template.source.bundle import Limits


def make_loading(plugins: Plugins, clock: Any, lender: Any = None) -> TemplateLoading:
    """Templates with the functions of ``plugins``."""

    def functions(version: str) -> Any:
        return build_function_table(version, plugins)

    lender = lender or SimpleNamespace(setup="", is_shared=False)
    return TemplateLoading(plugins, functions, Limits(), lender, clock, Random(0))
