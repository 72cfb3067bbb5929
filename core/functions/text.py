"""Functions that make text: list_join, str_replace and its strict forms, str_split, digest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from zonda.hooks.errors import Path
from zonda.hooks.function import (
    TEXT_PER_VALUE,
    Function,
    ParseScope,
    ResolveScope,
    Spending,
    count,
    resolve,
    resolve_value,
)

from .size_limits import check_size, check_text_size

#: So many characters are searched through at the cost of one value.
_SEARCHED_PER_VALUE = 1024

_SHOWN = 200


def format_json(value: Any) -> str:
    """Format a map or list as JSON with sorted keys, ASCII only; raises TypeError if it cannot."""
    return json.dumps(value, sort_keys=True)


class ListJoin(Function):
    """``list_join: [delimiter, [text, ...]]`` (before 2015-10-15, and ``Fn::Join``)."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not isinstance(self.args, list):
            raise TypeError(self._format_usage())
        if not self._is_valid_count(len(self.args)):
            raise ValueError(self._format_usage())

    def _is_valid_count(self, count: int) -> bool:
        return count == 2

    def _format_usage(self) -> str:
        return (
            f'Incorrect arguments to "{self.name}" should be: '
            f'"{self.name}" : [ " ", [ "str1", "str2"]]'
        )

    def resolve(self, scope: ResolveScope) -> Any:
        """The text; raises TypeError for items that are no text."""
        items = [item for some in self.args[1:] for item in self._resolve_items(some, scope)]
        delimiter = resolve_value(self.args[0], scope)
        if not isinstance(delimiter, str):
            raise TypeError(f'"{self.name}" delimiter must be a string')
        texts = [self._to_text(item, scope) for item in items]
        check_text_size(scope, sum(map(len, texts)) + len(delimiter) * len(texts))
        return delimiter.join(texts)

    def _resolve_items(self, tree: Any, scope: ResolveScope) -> list[Any]:
        items = resolve_value(tree, scope)
        if self._is_empty(items):
            return []
        if not isinstance(items, list):
            raise TypeError(f'"{self.name}" must operate on a list')
        return items

    def _is_empty(self, items: Any) -> bool:
        return items is None

    def _to_text(self, item: Any, scope: ResolveScope) -> str:
        if item is None:
            return ""
        if not isinstance(item, str):
            raise TypeError(f"Items to join must be strings not {repr(item)[:_SHOWN]}")
        return item


class ListJoinMultiple(ListJoin):
    """``list_join: [delimiter, list, ...]`` from 2015-10-15 on: several lists, maps as JSON."""

    __slots__ = ()

    def _is_valid_count(self, count: int) -> bool:
        return count >= 2

    def _format_usage(self) -> str:
        return (
            f'Incorrect arguments to "{self.name}" should be: '
            f'"{self.name}" : [ " ", [ "str1", "str2"] ...]'
        )

    def _is_empty(self, items: Any) -> bool:
        return not items

    def _to_text(self, item: Any, scope: ResolveScope) -> str:
        if isinstance(item, dict | list):
            count(item, scope)
            try:
                return format_json(item)
            except (TypeError, ValueError) as error:
                shown = repr(item)[:_SHOWN]
                raise TypeError(
                    f"Items to join must be string, map or list. {shown} failed json serialization"
                ) from error
        if item is None or isinstance(item, str):
            return item or ""
        raise TypeError(f"Items to join must be string, map or list not {repr(item)[:_SHOWN]}")


class StrReplace(Function):
    """``str_replace: {template: text, params: map}`` before 2015-10-15."""

    __slots__ = ("_params", "_template")

    #: Every placeholder must stand in the template.
    strict: ClassVar[bool] = False

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        self._params, self._template = self._parse_arguments()
        if not isinstance(self._params, dict | Function):
            raise TypeError(f'"{name}" parameters must be a mapping')

    def _parse_arguments(self) -> tuple[Any, Any]:
        if not isinstance(self.args, dict):
            raise TypeError(f'Arguments to "{self.name}" must be a map')
        if "params" not in self.args or "template" not in self.args:
            raise KeyError(
                f'"{self.name}" syntax should be {self.name}:\n'
                "              template: This is var1 template var2\n"
                "              params:\n"
                "                var1: a\n"
                "                var2: string"
            )
        return self.args["params"], self.args["template"]

    def resolve(self, scope: ResolveScope) -> Any:
        """The text; raises TypeError and ValueError with Heat's words."""
        template = resolve_value(self._template, scope)
        params = resolve_value(self._params, scope)
        if not isinstance(template, str):
            raise TypeError(f'"{self.name}" template must be a string')
        if not isinstance(params, Mapping):
            raise TypeError(f'"{self.name}" params must be a map')
        if not all(isinstance(key, str) for key in params):
            raise TypeError(f'"{self.name}" param placeholders must be strings')
        if "" in params:
            raise ValueError(f'"{self.name}" param placeholders must not be empty')
        count(params, scope)
        values = {
            key: self._format_replacement(params[key], key) for key in sort_longest_first(params)
        }
        text, missing = replace_placeholders(template, values, scope)
        if self.strict and missing:
            raise ValueError(
                f"The following params were not found in the template: {','.join(missing)}"
            )
        return text

    def _format_replacement(self, value: Any, key: str) -> str:
        if value is None:
            return ""
        if isinstance(value, str | int | float):
            return str(value)
        raise TypeError(
            f'"{self.name}" params must be strings or numbers, param {key} is not valid'
        )


class StrReplaceJson(StrReplace):
    """``str_replace`` from 2015-10-15 on: maps and lists are put in as JSON."""

    __slots__ = ()

    def _format_replacement(self, value: Any, key: str) -> str:
        if not isinstance(value, dict | list):
            return super()._format_replacement(value, key)
        try:
            return format_json(value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f'"{self.name}" params must be strings, list or map. '
                f"Failed to json serialize {repr(value)[:_SHOWN]}"
            ) from error


class StrReplaceStrict(StrReplaceJson):
    """``str_replace_strict``: a placeholder that is not in the template is an error."""

    __slots__ = ()
    strict = True


class StrReplaceVeryStrict(StrReplaceStrict):
    """``str_replace_vstrict``: empty and null values are errors too."""

    __slots__ = ()

    def _format_replacement(self, value: Any, key: str) -> str:
        if value is None or (isinstance(value, str | dict | list) and not value):
            raise ValueError(
                f"{self.name} has an undefined or empty value for param {key}, "
                "must be a defined non-empty value"
            )
        return super()._format_replacement(value, key)


def sort_longest_first(keys: Mapping[str, Any]) -> list[str]:
    """Sort longer keys first, equal lengths in alphabetical order."""
    return sorted(sorted(keys), key=len, reverse=True)


def replace_placeholders(
    template: str, values: Mapping[str, str], scope: Spending
) -> tuple[str, list[str]]:
    """Replace every key of ``values`` in ``template``, in their order; list the keys not found.

    What was put in is never looked at again: the template is cut at a key, and only the pieces
    between are searched for the next.
    """
    pieces: list[tuple[str, bool]] = [(template, False)]
    missing: list[str] = []
    length = len(template)
    for key, value in values.items():
        scope.spend(len(pieces) + length // _SEARCHED_PER_VALUE)
        found = sum(text.count(key) for text, done in pieces if not done)
        if found:
            length += found * (len(value) - len(key))
            check_size(scope, 2 * found + length // TEXT_PER_VALUE)
            pieces = list(_split_pieces(pieces, key, value))
        else:
            missing.append(key)
    return "".join(text for text, _ in pieces), missing


def _split_pieces(
    pieces: list[tuple[str, bool]], key: str, value: str
) -> Iterator[tuple[str, bool]]:
    for text, done in pieces:
        if done or key not in text:
            yield text, done
            continue
        first, *rest = text.split(key)
        yield first, False
        for part in rest:
            yield value, True
            yield part, False


class StrSplit(Function):
    """``str_split: [delimiter, text]`` or ``[delimiter, text, index]``."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if isinstance(self.args, str | dict):
            raise TypeError(self._format_usage("arguments"))

    def _format_usage(self, what: str) -> str:
        return (
            f'Incorrect {what} to "{self.name}" should be: '
            f'"{self.name}" : [ ",", "apples,pears", <index>]'
        )

    def resolve(self, scope: ResolveScope) -> Any:
        """The parts or one of them; null for a null text."""
        args = resolve_value(self.args, scope)
        if not isinstance(args, list) or len(args) < 2:
            raise ValueError(self._format_usage("arguments"))
        delimiter, text, *index = args
        if text is None:
            return None
        if not isinstance(text, str):
            raise TypeError(f'"{self.name}" can only split text, not {type(text).__name__}')
        if delimiter is not None and not isinstance(delimiter, str):
            raise TypeError(f'"{self.name}" delimiter must be a string')
        check_size(scope, len(text) if delimiter is None else text.count(delimiter))
        parts = text.split(delimiter)
        return self._pick_part(parts, index[0]) if index else parts

    def _pick_part(self, parts: list[str], index: Any) -> str:
        if index is None or isinstance(index, dict | list):
            raise TypeError(self._format_usage("index"))
        try:
            return parts[int(index)]
        except (ValueError, OverflowError):
            raise ValueError(self._format_usage("index")) from None
        except IndexError:
            raise ValueError(
                f'Incorrect index to "{self.name}" should be between 0 and {len(parts) - 1}'
            ) from None


@cache
def list_algorithms() -> list[str]:
    """List the algorithms whose digest has a length of its own."""
    import hashlib  # with OpenSSL, for one function

    return sorted(name for name in hashlib.algorithms_available if not name.startswith("shake"))


class Digest(Function):
    """``digest: [algorithm, text]``: the hexadecimal digest of a text in latin-1."""

    __slots__ = ()

    def resolve(self, scope: ResolveScope) -> Any:
        """The digest; raises TypeError and ValueError with Heat's words."""
        args = resolve(self.args, scope)
        if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
            raise TypeError(f'Argument to function "{self.name}" must be a list of strings')
        if len(args) != 2:
            raise ValueError(f'Function "{self.name}" usage: ["<algorithm>", "<value>"]')
        algorithm, text = args[0].lower(), args[1]
        if algorithm not in list_algorithms():
            raise ValueError(f"Algorithm must be one of {', '.join(list_algorithms())}")
        return _compute_digest(algorithm, text)


def _compute_digest(algorithm: str, text: str) -> str:
    try:
        data = text.encode("latin-1")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"a digest needs text in latin-1; the character at {error.start} is not"
        ) from error
    import hashlib

    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()
