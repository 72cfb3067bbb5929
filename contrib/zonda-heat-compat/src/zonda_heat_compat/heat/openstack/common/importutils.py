"""Importing by name, of 2013."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def import_module(import_str: str) -> Any:
    importlib.import_module(import_str)
    return sys.modules[import_str]


def import_class(import_str: str) -> Any:
    module, _, name = import_str.rpartition(".")
    return getattr(import_module(module), name)


def import_object(import_str: str, *args: Any, **kwargs: Any) -> Any:
    return import_class(import_str)(*args, **kwargs)


def try_import(import_str: str, default: Any = None) -> Any:
    try:
        return import_module(import_str)
    except ImportError:
        return default
