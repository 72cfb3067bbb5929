"""Sections of the settings, ``[runners.NAME]`` and ``[sinks.NAME]``, described by property schemas.

A kind of runner or of event sink carries a ``SettingsSchema`` as ``settings_schema``: zonda checks
every section of that kind with it before anything is made, and the kind reads its entries with it.
Values have the types of TOML, nothing is converted. No error quotes a value: it may be a secret.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from .context import ResourceContext
from .errors import UsageError
from .records import dataclass
from .schema.constraints import Constraint, Range, Typed, Violation
from .schema.property import Schema as Schema
from .text.redaction import secret_texts
from .text.suggestions import format_suggestion
from .text.urls import host_of_url

#: The keys that zonda adds to a section or reads itself.
COLLABORATORS = frozenset({"kind", "clock", "random", "service"})
#: An entry, '' for the section itself, and what is wrong with it.
Fault = tuple[str, str]
_LARGEST = 31_536_000  # a year in seconds; bytes, as well
_TYPES: Mapping[str, tuple[type[Any], ...]] = {
    Schema.STRING: (str,),
    Schema.INTEGER: (int,),
    Schema.NUMBER: (int, float),
    Schema.BOOLEAN: (bool,),
    Schema.MAP: (Mapping,),
    Schema.LIST: (list, tuple),
}
_WORDS = {
    Schema.STRING: "text",
    Schema.INTEGER: "a whole number",
    Schema.NUMBER: "a number",
    Schema.BOOLEAN: "true or false",
    Schema.MAP: "a table",
    Schema.LIST: "a list",
}


class Rule(Constraint):
    """A test of a value, and the sentence for a value that fails it: ``must be ...``."""

    keyword = "rule"
    valid_types: ClassVar[tuple[str, ...]] = (
        *("string", "integer", "number", "boolean", "map", "list", "any"),
    )

    def __init__(self, test: Callable[[Any], bool], sentence: str) -> None:
        super().__init__(sentence)
        self._test = test

    def _holds(self, value: Any, schema: Typed | None, context: ResourceContext | None) -> bool:
        return self._test(value)

    def _format_violation(self, value: Any) -> str:
        return self._build_rule()

    def _build_rule(self) -> str:
        return self.description or ""


@dataclass(frozen=True, slots=True)
class SettingsSchema:
    """The entries of a section of one ``kind``, e.g. of ``a queue runner``.

    ``required`` entries must not be empty, either; a single value is taken for a list of one.
    ``rules`` gives the faults between entries, where nothing is wrong with one of them.
    """

    kind: str
    entries: Mapping[str, Schema]
    rules: Callable[[Mapping[str, Any]], Iterable[Fault]] = lambda values: ()

    def check(self, section: Mapping[str, Any]) -> list[Fault]:
        """Every fault of a section as it is written: a hidden value may be a reference."""
        return self._read(section, references=True)[1]

    def read(self, section: Mapping[str, Any]) -> dict[str, Any]:
        """The value of every entry: given, default or empty. Raises UsageError for any fault."""
        own = {name: value for name, value in section.items() if name not in COLLABORATORS}
        values, faults = self._read(own, references=False)
        if faults:
            wrong = "; ".join(f"{entry} {text}".strip() for entry, text in faults)
            unknown = any(name not in self.entries for name in own)
            hint = f"It takes {', '.join(sorted(self.entries))}." if unknown else ""
            raise UsageError(f"The settings of {self.kind} are wrong: {wrong}.", hint=hint)
        return values

    def list_secrets(self, values: Mapping[str, Any]) -> list[str]:
        """Every text, for ``redact``, of hidden values and of the password in the proxy's URL."""
        hidden = _list_hidden(self.entries, values)
        proxy = str(values.get("proxy") or "").partition("://")[2].rpartition("@")[0]
        return secret_texts([*hidden, proxy.partition(":")[2]])

    def _read(
        self, section: Mapping[str, Any], *, references: bool
    ) -> tuple[dict[str, Any], list[Fault]]:
        reader = _Reader(self.kind, references)
        values = reader.table(self.entries, section, "")
        faults = list(dict.fromkeys(reader.faults))
        return values, faults or list(self.rules(values))


def _list_hidden(entries: Mapping[str, Schema], values: Mapping[str, Any]) -> Iterator[Any]:
    for name, schema in entries.items():
        if schema.hidden or (schema.items is not None and schema.items.hidden):
            yield values[name]
        elif values[name]:
            yield from _list_hidden(schema.fields, values[name])


class _Reader:
    """Reads one section and gathers its faults."""

    def __init__(self, kind: str, references: bool) -> None:
        self.faults: list[Fault] = []
        self._kind = kind
        self._references = references

    def table(
        self, entries: Mapping[str, Schema], given: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        for name in given:
            if name not in entries:
                hint = format_suggestion(name, entries)
                self.faults.append((f"{path}{name}", f"is no setting of {self._kind}{hint}"))
        return {
            name: self._entry(schema, given.get(name), f"{path}{name}", path)
            for name, schema in entries.items()
        }

    def _entry(self, schema: Schema, value: Any, path: str, table: str) -> Any:
        if schema.required and value in (None, ""):
            what = f": {schema.description}" if schema.description else ""
            self.faults.append((table.rstrip("."), f"{path} is missing{what}".lstrip()))
        if value is not None:
            return self._value(schema, value, path)
        if schema.default is None and schema.fields:
            return None
        return schema.empty() if schema.default is None else schema.default_value()

    def _value(self, schema: Schema, value: Any, path: str) -> Any:
        if schema.hidden and self._references and is_reference(value):
            return value
        if schema.type == Schema.LIST and not isinstance(value, list | tuple):
            value = [value]
        if not _has_type(value, schema.type):
            more = ", {env = ...} or {file = ...}" if schema.hidden else ""
            self.faults.append((path, f"must be {_WORDS[schema.type]}{more}"))
            return value
        if schema.fields:
            value = self.table(schema.fields, value, f"{path}.")
        elif schema.items is not None:
            value = [self._value(schema.items, each, path) for each in value]
        for constraint in schema.constraints:
            try:
                constraint.validate(value, schema)
            except ValueError as error:
                self.faults.append((path, getattr(error, "discreet", "") or "cannot be used"))
                break
        return value


def _has_type(value: Any, type_name: str) -> bool:
    if type_name == Schema.ANY or isinstance(value, bool):
        return type_name in (Schema.ANY, Schema.BOOLEAN)
    is_infinite = isinstance(value, float) and not math.isfinite(value)
    return isinstance(value, _TYPES[type_name]) and not is_infinite


def is_reference(value: Any) -> bool:
    """Whether a secret is named instead of given: ``{env = "NAME"}`` or ``{file = "PATH"}``."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    [(kind, name)] = value.items()
    return kind in ("env", "file") and isinstance(name, str) and bool(name)


def is_header_value(text: str) -> bool:
    """Whether a text can be the value of a header: one line of plain ASCII characters."""
    return text.isprintable() and text == text.strip() and text.isascii()


def _is_network(text: str) -> bool:
    import ipaddress  # 3 ms that most runs need not spend

    try:
        ipaddress.ip_network(text.strip())
    except ValueError:
        wrong = f"must hold networks such as 10.0.0.0/8 or fd00::/8, and {text} is none"
        raise Violation(wrong, discreet=wrong) from None
    return True


def _has_no_credentials(url: str) -> bool:
    return "@" not in url.partition("://")[2].partition("/")[0]


NOT_NEGATIVE = Range(0, _LARGEST, f"must be a number from 0 to {_LARGEST}")
POSITIVE = Rule(lambda number: 0 < number <= _LARGEST, f"must be above 0, at most {_LARGEST}")
ONE_LINE = Rule(is_header_value, "must be one line of plain ASCII characters")
#: An http(s) URL; and, for one that is shown, without credentials.
URL = Rule(
    lambda url: not url or bool(host_of_url(url)),
    "must be a URL that begins with http:// or https://",
)
NO_CREDENTIALS = Rule(
    _has_no_credentials, "must hold no credentials: they have entries of their own"
)
ENDPOINT = (URL, NO_CREDENTIALS)
_NETWORKS = Schema(
    Schema.LIST,
    schema=Schema(
        Schema.STRING,
        constraints=[Rule(_is_network, "must hold networks such as 10.0.0.0/8 or fd00::/8")],
    ),
)
#: The entries of a kind that calls out by ``zonda.hooks.http``: see ``read_connection`` there.
CONNECTION: Mapping[str, Schema] = {
    "connect_timeout": Schema(
        Schema.NUMBER, "Seconds until a connection stands", 5.0, constraints=[POSITIVE]
    ),
    "answer_timeout": Schema(
        Schema.NUMBER, "Seconds until the whole answer is there", 60.0, constraints=[POSITIVE]
    ),
    "max_body": Schema(
        Schema.NUMBER, "Bytes of an answer, at most", 1024 * 1024, constraints=[NOT_NEGATIVE]
    ),
    "ca_bundle": Schema(Schema.STRING, "A file of certificates to trust, in PEM"),
    "client_certificate": Schema(Schema.STRING, "A file with a certificate, in PEM"),
    "client_key": Schema(Schema.STRING, "The file with its private key, in PEM"),
    "client_key_passphrase": Schema(Schema.STRING, "The passphrase of that key", hidden=True),
    "proxy": Schema(Schema.STRING, "The URL of a proxy", constraints=[URL]),
    "allowed_networks": _NETWORKS,
    "denied_networks": _NETWORKS,
}
