"""One entry of ``resources``, read key by key in Heat's order of checks.

Called by ``loader`` for every resource of the template, disabled ones too. Faults go to the
parser's list; a key that is wrong counts as absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.function import Function, resolve_value

from ..evaluation.scope import Parser
from ..source.cloudformation import to_cfn_name
from ..source.diagnostics import (
    FAULTS,
    POLICY,
    RESOURCE_KEY,
    RESOURCE_SHAPE,
    RESOURCE_TYPE,
    FollowUpError,
    from_exception,
    suggestion,
    wrap_error,
)
from ..source.versions import CFN, CONDITIONS_SINCE, has_conditions
from .conditions import evaluate_condition
from .resource import ResourceNode
from .sections import RESOURCE_KEYS_LATER, RESOURCES

_POLICIES = {"Delete": "Delete", "Retain": "Retain", "Snapshot": "Snapshot"}
_POLICIES_LATER = {**_POLICIES, **{name.lower(): name for name in _POLICIES}}


def parse_resource(
    name: str, entry: Mapping[str, Any], parser: Parser, *, literal: bool = False
) -> tuple[ResourceNode, bool]:
    """Parse one entry to a node; return also whether it is enabled. Faults go to the parser.

    The class and the requirements are filled in later, once every entry is parsed. ``literal``: its
    properties, metadata and update policy are values, in which nothing is a function.
    """
    reader = _Reader(name, entry, parser, literal)
    reader.check_keys()
    type_ = reader.type()
    trees = {
        "properties": reader.mapping("properties"),
        "metadata": reader.mapping("metadata"),
    }
    depends_on = reader.depends_on()
    policy = reader.deletion_policy()
    trees["update_policy"] = reader.mapping("update_policy")
    description = reader.text("description") or ""
    external_id = reader.text("external_id", functions=True)
    if external_id is not None:
        # A resource that is managed elsewhere is never deleted from here.
        policy = "Retain"
    node = ResourceNode(
        name=name,
        type=type_,
        raw=entry,
        **trees,
        depends_on=depends_on,
        deletion_policy=policy,
        external_id=external_id,
        description=description,
        trees={**entry, **{key: trees[key] for key in trees if key in entry}},
    )
    enabled = reader.is_enabled()
    node.is_certain = reader.is_certain
    return node, enabled


class _Reader:
    """Reads the keys of one entry."""

    __slots__ = ("_entry", "_literal", "_name", "_parser", "is_certain")

    def __init__(self, name: str, entry: Mapping[str, Any], parser: Parser, literal: bool) -> None:
        self._name = name
        self._entry = entry
        self._parser = parser
        self._literal = literal
        #: Whether it is known if the condition holds.
        self.is_certain = True

    def _build_path(self, key: str) -> Path:
        return (RESOURCES, self._name, key)

    def _to_written_key(self, key: str) -> str:
        """The key as the template's notation writes it."""
        return to_cfn_name(key) if self._parser.version in CFN else key

    def _report_wrong_type(self, key: str, wanted: str) -> None:
        text = f"Resource {self._name} {self._to_written_key(key)} type must be {wanted}"
        self._parser.errors.append(_make_fault(text, self._build_path(key)))

    def check_keys(self) -> None:
        """Report keys that only later versions have."""
        later = [key for key in RESOURCE_KEYS_LATER if key in self._entry]
        if later and not has_conditions(self._parser.version):
            self._parser.errors.append(
                TemplateError(
                    f"Invalid keyword(s) inside a resource definition: {', '.join(later)}",
                    at=self._build_path(later[0]),
                    code=RESOURCE_KEY,
                    hint=f"{' and '.join(later)} can be used from version {CONDITIONS_SINCE} on.",
                )
            )
            self._entry = {key: self._entry[key] for key in self._entry if key not in later}

    def type(self) -> str:
        """The type's name; empty where it is wrong."""
        value = self._entry.get("type", "")
        if isinstance(value, str) and value:
            return value
        if "type" in self._entry:
            if value is None or value == "":
                text = "Each Resource must contain a Type key."
                self._parser.errors.append(
                    _make_fault(text, self._build_path("type"), RESOURCE_TYPE)
                )
            else:
                self._report_wrong_type("type", "string")
        return ""

    def mapping(self, key: str) -> Any:
        """The tree of a map, or of a function that may give one; empty where it is wrong."""
        if key not in self._entry:
            return {}
        value = self._entry[key]
        if not isinstance(value, dict):
            self._report_wrong_type(key, "object")
            return {}
        if self._literal or not value:
            return value
        return self._parser.parse(value, self._build_path(key))

    def text(self, key: str, *, functions: bool = False) -> Any:
        """A text, or the tree of a function where ``functions`` may stand; None if absent."""
        if key not in self._entry:
            return None
        value = self._entry[key]
        if functions and isinstance(value, Mapping):
            value = self._parser.parse(value, self._build_path(key))
        if isinstance(value, str) or (functions and isinstance(value, Function)):
            return value
        self._report_wrong_type(key, "string")
        return None

    def depends_on(self) -> tuple[str, ...]:
        """The names, in the order written."""
        if "depends_on" not in self._entry:
            return ()
        value = self._entry["depends_on"]
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list):
            self._report_wrong_type("depends_on", "list or string")
            return ()
        if not all(isinstance(item, str) for item in value):
            text = (
                f"Resource {self._name} {self._to_written_key('depends_on')} must be "
                "a list of strings"
            )
            self._parser.errors.append(_make_fault(text, self._build_path("depends_on")))
            return ()
        return tuple(dict.fromkeys(value))

    def deletion_policy(self) -> str:
        """``Delete``, ``Retain`` or ``Snapshot``."""
        tree = self.text("deletion_policy", functions=True)
        if tree is None:
            return "Delete"
        path = self._build_path("deletion_policy")
        try:
            value = resolve_value(tree, self._parser.scope)
        except FollowUpError:
            return "Delete"
        except FAULTS as error:
            self._parser.errors.append(wrap_error(error, path=path))
            return "Delete"
        known = _POLICIES_LATER if self._parser.version >= CONDITIONS_SINCE else _POLICIES
        if value is None or (isinstance(value, str) and value in known):
            return known[value] if value else "Delete"
        self._parser.errors.append(
            TemplateError(
                f'Invalid deletion policy "{value}"',
                at=path,
                code=POLICY,
                hint=suggestion(value, known) or f"One of {', '.join(known)}.",
            )
        )
        return "Delete"

    def is_enabled(self) -> bool:
        """Whether the resource's condition holds; a faulty one counts as true."""
        if "condition" not in self._entry:
            return True
        value = self._entry["condition"]
        path = self._build_path("condition")
        tree, faults = self._parser.parse_condition(value, path)
        self._parser.errors.extend(faults)
        if faults:
            return True
        if not isinstance(tree, str | bool | Function):
            self._report_wrong_type("condition", "string_or_boolean")
            return True
        try:
            if isinstance(tree, Function):
                tree = self._resolve_condition(tree, path)
            return evaluate_condition(tree, self._parser, path)
        except FollowUpError:
            self.is_certain = False
            return True
        except TemplateError as error:
            self._parser.errors.append(error)
            return True

    def _resolve_condition(self, tree: Function, path: Path) -> Any:
        """Resolve a condition that is a call; Heat reports its faults without a path."""
        try:
            return resolve_value(tree, self._parser.scope)
        except FAULTS as error:
            fault = from_exception(error)
            fault.at = fault.at or path
            raise fault from error


def _make_fault(message: str, at: Path, code: str = RESOURCE_SHAPE) -> TemplateError:
    return TemplateError(message, at=at, code=code)
