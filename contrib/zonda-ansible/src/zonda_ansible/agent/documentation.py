"""The interface of a module: all that it says of itself, as plain data.

From its documentation and, where the code tells more (secrets, options that exclude each other),
from its call of ``AnsibleModule``. Called by ``agent.__main__``; whoever uses the result keeps it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from .arguments import read_arguments

#: Names of options that hold a secret although nobody says so. (Ansible warns of such options.)
_SECRET: Final = re.compile(
    r"(?<!not)pass(?!ive|thr|ed|es|ing)|secret|(?<!use_)token|cryptkey|api_?key", re.IGNORECASE
)
#: The rules that actions of ansible-core check themselves, and nothing declares.
_RULES_OF_ACTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ansible.builtin.copy": {
        "mutually_exclusive": [["src", "content"]],
        "required_one_of": [["src", "content"]],
    },
    "ansible.builtin.debug": {"mutually_exclusive": [["msg", "var"]]},
    "ansible.builtin.dnf": {"mutually_exclusive": [["use", "use_backend"]]},
    "ansible.builtin.pause": {"mutually_exclusive": [["minutes", "seconds"]]},
    "ansible.builtin.service": {"required_one_of": [["state", "enabled"]]},
    "ansible.builtin.unarchive": {"mutually_exclusive": [["copy", "remote_src"]]},
}
#: Ansible's markup in descriptions: ``O(name)``, ``V(value)``, ``L(text,address)``, ...
_MARKED: Final = re.compile(r"\b(?:[BCEIMOPRUV]|RV)\(((?:\\.|[^()\\])*)\)")
_LINKED: Final = re.compile(r"\bL\(([^(),]*),\s*([^()]*)\)")


class NoInterface(Exception):
    """Nothing tells what a module takes; the text is the reason."""


def read_interface(name: str, file: str) -> dict[str, Any]:
    """The interface of a module by its full name; raises NoInterface.

    ``options``: name -> ``type``, ``elements``, ``choices``, ``required``, ``default``,
    ``aliases``, ``no_log``, ``description``, ``options`` (those inside) and ``relations`` (among
    those); ``relations`` as ``AnsibleModule`` takes them; ``returns``: name -> ``type``,
    ``description``; ``check_mode``: ``full``, ``partial``, ``none`` or ``""`` where nobody says;
    ``is_action``: a part of its work is done on this side.
    """
    doc, returns = _read_documentation(name)
    code = read_arguments(_get_python_name(name)) if file.endswith(".py") else None
    documented = _to_mapping(doc.get("options"))
    support = {
        key: str(_to_mapping(found).get("support", ""))
        for key, found in _to_mapping(doc.get("attributes")).items()
    }
    # An action plug-in takes options that the code behind it need not know, and leaves out others.
    is_action = support.get("action") in ("full", "partial")
    by_code = code is not None and not is_action
    options = code["options"] if code is not None and by_code else None
    check_mode = support.get("check_mode", "").lower()
    if check_mode not in ("full", "partial", "none"):
        check_mode = "" if code is None else ("full" if code["check_mode"] else "none")
    return {
        "module": name,
        "summary": _to_text(doc.get("short_description")),
        "description": _to_text(doc.get("description")),
        "deprecated": "deprecated" in doc,
        "options": _hide_secrets(_describe_all(documented, options), code),
        "relations": _find_relations(name, code, is_action),
        "returns": _describe_returns(returns),
        "check_mode": check_mode,
        "is_action": is_action,
    }


def _find_relations(name: str, code: Mapping[str, Any] | None, is_action: bool) -> dict[str, Any]:
    """The rules among the options."""
    declared = {} if code is None else dict(code["relations"])
    if not is_action:
        return declared
    # An action may give the code behind it options that nobody gave it: what must be there does not
    # follow from the code.
    told = _RULES_OF_ACTIONS.get(name, {})
    excluding = _list_groups(declared) + _list_groups(told)
    return {**told, **({"mutually_exclusive": excluding} if excluding else {})}


def _list_groups(relations: Mapping[str, Any]) -> list[Any]:
    """The groups of options of which one may be given."""
    groups = relations.get("mutually_exclusive") or []
    return [groups] if groups and isinstance(groups[0], str) else list(groups)


def _hide_secrets(options: dict[str, Any], code: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options, where also those are secret of which only the code says it."""
    for name, declared in (code or {}).get("options", {}).items():
        if name in options and declared.get("no_log"):
            options[name]["no_log"] = True
    return options


def _read_documentation(name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    from ansible.plugins.loader import fragment_loader, module_loader
    from ansible.utils.plugin_docs import get_plugin_docs

    try:
        doc, _, returns, _ = get_plugin_docs(name, "module", module_loader, fragment_loader, False)
    except Exception as error:  # whatever a broken collection makes ansible-core raise
        raise NoInterface(_first_line(error)) from error
    if not isinstance(doc, Mapping):
        raise NoInterface("it has no documentation")
    return doc, _to_mapping(returns)


def _first_line(error: BaseException) -> str:
    return next(iter(f"{error}".strip().splitlines()), type(error).__name__)[:300]


def _get_python_name(name: str) -> str:
    namespace, collection, rest = name.split(".", 2)
    if (namespace, collection) == ("ansible", "builtin"):
        return f"ansible.modules.{rest}"
    return f"ansible_collections.{namespace}.{collection}.plugins.modules.{rest}"


def _describe_all(
    documented: Mapping[str, Any], options: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The options by name: those of the code where that is known, else the documented ones."""
    names = documented if options is None else options
    return {
        str(name): _describe(
            str(name),
            _find_documented(documented, str(name), None if options is None else options[name]),
            None if options is None else _to_mapping(options[name]),
        )
        for name in names
        if not str(name).startswith("_")  # what action plug-ins hand to the code behind them
    }


def _find_documented(documented: Mapping[str, Any], name: str, declared: Any) -> dict[str, Any]:
    """The documentation of an option, which may have it under another of its names."""
    if name in documented:
        return _to_mapping(documented[name])
    others = _list_aliases(declared)
    known = (o for key, o in documented.items() if key in others or name in _list_aliases(o))
    return _to_mapping(next(known, None))


def _list_aliases(option: Any) -> list[str]:
    """The other names of an option."""
    found = _to_mapping(option).get("aliases")
    return [str(alias) for alias in found] if isinstance(found, list | tuple) else []


def _describe(
    name: str, documented: Mapping[str, Any], declared: Mapping[str, Any] | None
) -> dict[str, Any]:
    source = documented if declared is None else declared
    inside = source.get("options") or source.get("suboptions")
    secret = source.get("no_log")
    found = {
        "type": str(source.get("type") or ("str" if declared is not None else "raw")),
        "elements": source.get("elements"),
        "choices": [*(source.get("choices") or ())],
        "required": source.get("required") is True,
        "default": _to_plain(source.get("default")),
        "aliases": [str(alias) for alias in source.get("aliases") or ()],
        "no_log": _is_secret(name, source) if secret is None else bool(secret),
        "description": _to_text(documented.get("description")),
    }
    if isinstance(inside, Mapping):
        suboptions = _to_mapping(documented.get("suboptions") or documented.get("options"))
        found["options"] = _describe_all(
            suboptions if declared is not None else inside, inside if declared is not None else None
        )
        found["relations"] = _to_mapping(source.get("relations"))
    return found


def _is_secret(name: str, source: Mapping[str, Any]) -> bool:
    return source.get("type") != "bool" and _SECRET.search(name) is not None


def _describe_returns(returns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        str(name): {
            "type": _get_returned_type(_to_mapping(found)),
            "description": _to_text(_to_mapping(found).get("description")),
            "no_log": _is_secret(str(name), _to_mapping(found)),
        }
        for name, found in returns.items()
    }


def _get_returned_type(found: Mapping[str, Any]) -> str:
    """The type of what is returned; '' where the sample beside it is of another one."""
    kind, sample = str(found.get("type") or ""), found.get("sample")
    is_other = (isinstance(sample, list) and not kind.startswith("list")) or (
        isinstance(sample, Mapping) and not kind.startswith("dict")
    )
    return "" if is_other else kind


def _to_mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _to_text(value: Any) -> str:
    lines = value if isinstance(value, list | tuple) else [value]
    text = " ".join(" ".join(str(each).split()) for each in lines if each is not None)
    text = _LINKED.sub(r"\1 (\2)", text.replace("HORIZONTALLINE", ""))
    return _MARKED.sub(_quote, text)


def _quote(found: re.Match[str]) -> str:
    """The text that is marked, in the quotes of zonda's own descriptions."""
    plain = re.sub(r"\\(.)", r"\1", found[1])
    return f"`{plain}`"


def _to_plain(value: Any) -> Any:
    """A default as JSON holds it; None where it cannot."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return None
