"""The cache of what the finders of client plug-ins have found, and of the extensions of services.

A stack asks for its image and its flavor once per server, and more. An answer is kept for some
seconds only, and none of a name that was not found. What zonda removes or changes meanwhile may be
what somebody has found: then all is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Final

from oslo_cache import core
from oslo_config import cfg

#: The time for which an answer is kept: a plan and the beginning of its operation.
_SECONDS: Final = 15
#: The answers that are kept at most: those of client plug-ins that are gone are not looked for.
_MOST: Final = 10_000
_GROUPS: Final = (
    "constraint_validation_cache",
    "service_extension_cache",
    "resource_finder_cache",
)
_answers: dict[str, Any] = {}
_regions: list[Any] = []
# An id of Python's would be that of another client plug-in once this one is gone.
_numbers = count()


def register_cache_configurations(conf: Any) -> Any:
    """Make the settings of the cache known."""
    core.configure(conf)
    for group in _GROUPS:
        known = [
            cfg.IntOpt("expiration_time", default=_SECONDS),
            cfg.BoolOpt("caching", default=True),
        ]
        conf.register_opts(known, group=group)
    conf.set_default("enabled", True, group="cache")
    return conf


def get_cache_region() -> Any:
    """The cache, one for the process."""
    if not _regions:
        register_cache_configurations(cfg.CONF)
        region = core.create_region(function=_make_key_function)
        region.configure("dogpile.cache.memory", arguments={"cache_dict": _answers})
        _regions.append(region)
    return _regions[0]


def _make_key_function(namespace: Any, function: Any) -> Callable[..., str]:
    """The keys of a finder's answers: each client plug-in, which is of one cloud, has its own."""

    def make_key(plugin: Any, *given: Any) -> str:
        if len(_answers) > _MOST:
            forget()
        number = vars(plugin).setdefault("_zonda_number", next(_numbers))
        return f"{number} {function.__module__}.{function.__qualname__} {given}"

    return make_key


def forget() -> None:
    """Forget all answers."""
    _answers.clear()
