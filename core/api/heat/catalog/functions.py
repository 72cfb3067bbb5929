"""Template versions and their functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from zonda.core.template.source.versions import CFN_DATES, DATES, KEY, NAMES
from zonda.hooks.function import Function

from ...http.calls import Answer, Call
from ...http.errors import Missing
from ..values import get_bool

#: Descriptions that Heat's black-box suite compares word by word.
_RECORDED = {"get_file": "A function for including a file inline."}


def _list_versions() -> Iterator[tuple[str, str, str, list[str]]]:
    """(version, its date, its notation, aliases), by name."""
    for key, date in sorted(CFN_DATES.items()):
        yield f"{key}.{date}", date, "cfn", []
    for date in DATES:
        aliases = [f"{KEY}.{name}" for name, known in NAMES.items() if known == date]
        yield f"{KEY}.{date}", date, "hot", aliases


def list_versions(call: Call) -> Answer:
    """All template versions."""
    rows = [
        {"version": version, "type": kind, "aliases": aliases}
        for version, _, kind, aliases in _list_versions()
    ]
    return Answer(200, {"template_versions": rows})


def list_functions(call: Call) -> Answer:
    """The functions of one version."""
    name = call.path["version"]
    for version, date, _, aliases in _list_versions():
        if name in (version, *aliases):
            table = call.project.service.app.function_table(date)
            names = {key: cls for key, cls in table.functions.items() if key not in table.removed}
            if get_bool(call, "with_condition_func"):
                also = table.conditions.items()
                names |= {key: cls for key, cls in also if key not in table.removed}
            return Answer(200, {"template_functions": list(_describe(names.items()))})
    raise Missing(f"Template with version {name} not found")


def _describe(functions: Iterable[tuple[str, type[Function]]]) -> Iterator[dict[str, Any]]:
    for name, cls in sorted(functions):
        text = (cls.__doc__ or "").strip().partition("\n\n")[0]
        plain = _RECORDED.get(name) or " ".join(text.replace("``", "").split())
        yield {"functions": name, "description": plain}
