"""The functions of CloudFormation, some of which the first HOT versions had: Ref and Fn::*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from zonda.core.template.evaluation.unknown_values import UNKNOWN
from zonda.core.template.source.diagnostics import PARAMETER_UNDECLARED, FollowUpError, suggestion
from zonda.core.template.source.json_text import read_json
from zonda.hooks.errors import Path, TemplateError, UnknownReference
from zonda.hooks.function import (
    Function,
    ParseScope,
    ResolveScope,
    Source,
    resolve_value,
    sources,
)

from .access import GetAttrThenSelect, ResourceFacade, fold_constant, to_resource_name
from .logic import FixedList
from .size_limits import check_size
from .text import ListJoin, StrReplace

_MEMBER = r"\.member\.([0-9]+)\.(.*)"


class Ref(Function):
    """``Ref: name``: a parameter's value or a resource's reference."""

    __slots__ = ("_source",)

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if isinstance(self.args, dict | list):
            to_resource_name(name, self.args)
        self._source = _find_source(scope, fold_constant(scope, self.args, path))

    def sources(self) -> Iterator[Source]:
        """The parameter or the resource, and the sources of its name."""
        if self._source is not None:
            yield self._source
        yield from sources(self.args)

    def resolve(self, scope: ResolveScope) -> Any:
        """The value; raises UnknownReference for a name that is neither."""
        name = to_resource_name(self.name, resolve_value(self.args, scope))
        if self._source is not None and self._source.kind == "param":
            return scope.parameter(name)
        try:
            return scope.reference(name, self.path)
        except KeyError:
            raise UnknownReference(
                f'The specified reference "{name}" (in unknown) is incorrect.'
            ) from None


def _find_source(scope: ParseScope, name: Any) -> Source | None:
    if name is UNKNOWN or isinstance(name, dict | list):
        return None
    try:
        scope.parameter(str(name))
    except FollowUpError:  # declared, and without a value yet
        return Source("param", str(name))
    except (TemplateError, KeyError):
        return Source("ref", str(name))
    return Source("param", str(name))


class Select(FixedList):
    """``Fn::Select: [index, collection]``; what is not there gives the empty text."""

    __slots__ = ()
    usage = 'Arguments to "{name}" must be of the form [index, collection]'

    def resolve(self, scope: ResolveScope) -> Any:
        """The item; raises TypeError for an index that does not fit the collection."""
        index, collection = (resolve_value(arg, scope) for arg in self.args)
        if collection == "":
            return ""
        if isinstance(collection, str):
            check_size(scope, len(collection) // 2)  # no value of JSON is shorter
            collection = self._parse_json(collection)
        if collection is None:
            return ""
        if isinstance(collection, dict):
            if not isinstance(index, str):
                raise TypeError(f'Index to "{self.name}" must be a string')
            return collection.get(index, "")
        if not isinstance(collection, list):
            raise TypeError(f"Arguments to {self.name} not fully resolved")
        return self._pick_item(collection, index)

    def _parse_json(self, text: str) -> Any:
        try:
            return read_json(text)
        except ValueError as error:
            raise ValueError(f'"{self.name}": {error}') from error

    def _pick_item(self, items: list[Any], index: Any) -> Any:
        try:
            return items[int(index)]
        except IndexError:
            return ""
        except (ValueError, TypeError, OverflowError):
            raise TypeError(f'Index to "{self.name}" must be an integer') from None


class Join(ListJoin):
    """``Fn::Join: [delimiter, [text, ...]]``."""

    __slots__ = ()


class Split(FixedList):
    """``Fn::Split: [delimiter, text]``."""

    __slots__ = ()
    usage = 'Incorrect arguments to "{name}" should be: "{name}" : [ ",", "str1,str2"]]'

    def resolve(self, scope: ResolveScope) -> Any:
        """The parts."""
        delimiter, text = (resolve_value(arg, scope) for arg in self.args)
        if not isinstance(delimiter, str):
            raise TypeError(f"Delimiter for {self.name} must be string")
        if not isinstance(text, str):
            raise TypeError(f"String to split must be string; got {type(text)}")
        check_size(scope, text.count(delimiter) if delimiter else 0)
        return text.split(delimiter)


class Replace(StrReplace):
    """``Fn::Replace: [map, template]``."""

    __slots__ = ()

    def _parse_arguments(self) -> tuple[Any, Any]:
        if not isinstance(self.args, list) or len(self.args) != 2:
            raise ValueError(
                f'Incorrect arguments to "{self.name}" should be: '
                f'{{"{self.name}": [ {{"$var1": "foo", "%var2%": "bar"}}, '
                '"$var1 is %var2%"]}'
            )
        return self.args[0], self.args[1]


class Base64(Function):
    """``Fn::Base64: text``: the text itself; servers encode it when they need to."""

    __slots__ = ()

    def resolve(self, scope: ResolveScope) -> Any:
        """The text."""
        text = resolve_value(self.args, scope)
        if not isinstance(text, str):
            raise TypeError(f'"{self.name}" argument must be a string')
        return text


class MemberListToMap(Function):
    """``Fn::MemberListToMap: [key name, value name, [".member.0.Name=key", ...]]``."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not isinstance(self.args, list) or len(self.args) != 3:
            raise TypeError(
                'Wrong Arguments try: "\n'
                "            {'Fn::MemberListToMap': ['Name', 'Value',\n"
                "                                     ['.member.0.Name=key',\n"
                "                                      '.member.0.Value=door']]}\n"
                '            "'
            )
        for what, arg in zip(("Key", "Value"), self.args, strict=False):
            if not isinstance(arg, str):
                raise TypeError(f"{name} {what} Name must be a string")

    def resolve(self, scope: ResolveScope) -> Any:
        """The map, in the order of the members' numbers."""
        key_name, value_name, tree = self.args
        members = resolve_value(tree, scope)
        if not isinstance(members, list):
            raise TypeError("Member list must be a list")
        pairs: dict[int, dict[str, str]] = {}
        for member in map(_parse_member, members):
            if member is not None:
                number, name, value = member
                pairs.setdefault(number, {})[name] = value
        complete = [pairs[number] for number in sorted(pairs)]
        return {
            pair[key_name]: pair[value_name]
            for pair in complete
            if key_name in pair and value_name in pair
        }


def _parse_member(text: Any) -> tuple[int, str, str] | None:
    """Parse number, name and value of a member; None for a name of another form, ignored."""
    if not isinstance(text, str):
        raise TypeError("Member list items must be strings")
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"Member list items must look like .member.0.Name=key, not {text[:60]!r}")
    match = re.match(_MEMBER, name)
    return None if match is None else (int(match[1]), match[2], value)


class ParamRef(Function):
    """``Ref: name`` in a condition: a parameter's value."""

    __slots__ = ()

    def sources(self) -> Iterator[Source]:
        """The parameter, and the sources of its name."""
        if isinstance(self.args, str):
            yield Source("param", self.args)
        yield from sources(self.args)

    def resolve(self, scope: ResolveScope) -> Any:
        """The value; raises UnknownReference for what is no parameter."""
        name = to_resource_name(self.name, resolve_value(self.args, scope))
        try:
            return scope.parameter(name)
        except TemplateError as error:
            if error.code != PARAMETER_UNDECLARED:
                raise
            text = f'The specified reference "{name}" (in unknown) is incorrect.'
            raise UnknownReference(text, hint=error.hint) from error


class GetAtt(GetAttrThenSelect):
    """``Fn::GetAtt: [resource, attribute]``."""

    __slots__ = ()

    def _parse_arguments(self, args: Any) -> list[Any]:
        if not isinstance(args, list) or len(args) != 2:
            raise ValueError(
                f'Arguments to "{self.name}" must be of the form [resource_name, attribute]'
            )
        return args


class FindInMap(FixedList):
    """``Fn::FindInMap: [mapping, key, key]``: a value of the section Mappings."""

    __slots__ = ("_mappings",)
    length = 3
    usage = 'Arguments to "{name}" must be of the form [mapping, key, key]'

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        self._mappings = getattr(scope, "mappings", None)

    def resolve(self, scope: ResolveScope) -> Any:
        """The value; raises TemplateError for a name or a key that is not there."""
        found: Any = self._mappings
        for key in (resolve_value(arg, scope) for arg in self.args):
            if not isinstance(found, dict) or isinstance(key, dict | list) or key not in found:
                known = found if isinstance(found, dict) else {}
                raise TemplateError(
                    repr(key),
                    heat_type="KeyError",
                    hint=suggestion(key, known) or f"The section Mappings has no {key} there.",
                )
            found = found[key]
        return found


class CfnResourceFacade(ResourceFacade):
    """``Fn::ResourceFacade: Metadata``."""

    __slots__ = ()
    kinds: ClassVar[dict[str, str]] = {
        "Metadata": "metadata",
        "DeletionPolicy": "deletion_policy",
        "UpdatePolicy": "update_policy",
    }


class GetAZs(Function):
    """``Fn::GetAZs: region``: the one zone that Heat names where it knows no others."""

    __slots__ = ()

    def resolve(self, scope: ResolveScope) -> Any:
        """A list of one zone."""
        return ["nova"]
