"""Properties as Heat's plug-ins declare and read them.

What is declared are zonda's own schemas; what is read is zonda's own, too, but what nobody gave is
None, as Heat has it, and a bad value is a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import TemplateError, describe_exception, properties

from heat.common import exception
from heat.engine import constraints as constr
from heat.engine.support import SupportStatus
from heat.engine.translation import TranslationRule
from zonda_heat_compat.asking import Finders, is_only_looking

__all__ = ["Properties", "Property", "Schema", "TranslationRule", "schemata"]

#: The keys of 2013, when a schema was a dict.
SCHEMA_KEYS = (
    REQUIRED,
    IMPLEMENTED,
    DEFAULT,
    TYPE,
    SCHEMA,
    ALLOWED_PATTERN,
    MIN_VALUE,
    MAX_VALUE,
    ALLOWED_VALUES,
    MIN_LENGTH,
    MAX_LENGTH,
    DESCRIPTION,
    UPDATE_ALLOWED,
    IMMUTABLE,
) = (
    "Required",
    "Implemented",
    "Default",
    "Type",
    "Schema",
    "AllowedPattern",
    "MinValue",
    "MaxValue",
    "AllowedValues",
    "MinLength",
    "MaxLength",
    "Description",
    "UpdateAllowed",
    "Immutable",
)
SCHEMA_TYPES = (INTEGER, STRING, NUMBER, BOOLEAN, MAP, LIST) = (
    "Integer",
    "String",
    "Number",
    "Boolean",
    "Map",
    "List",
)


class Schema(constr.Schema):
    """One declared property."""

    KEYS: ClassVar[tuple[str, ...]] = (
        *constr.Schema.KEYS,
        IMPLEMENTED := "implemented",
        UPDATE_ALLOWED := "update_allowed",
    )

    def __init__(
        self,
        data_type: str,
        description: str | None = None,
        default: Any = None,
        schema: Any = None,
        required: bool = False,
        constraints: Any = None,
        implemented: bool = True,
        update_allowed: bool = False,
        immutable: bool = False,
        support_status: SupportStatus | None = None,
        allow_conversion: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(data_type, description, default, schema, required, constraints)
        self.schema = _inside(data_type, schema)
        self.implemented = bool(implemented)
        self.update_allowed = bool(update_allowed)
        self.immutable = bool(immutable)
        self.support_status = support_status or SupportStatus()
        self.allow_conversion = bool(allow_conversion)
        self.hidden = bool(more.get("hidden", False))

    @classmethod
    def from_legacy(cls, schema_dict: Any) -> Schema:
        """A schema from the dicts of 2013: ``{'Type': 'String', 'Required': True}``."""
        if isinstance(schema_dict, properties.Schema):
            return schema_dict  # type: ignore[return-value]
        unknown = [key for key in schema_dict if key not in (*SCHEMA_KEYS, *_OTHER_KEYS)]
        if unknown:
            text = f"Unknown key(s) {', '.join(map(repr, unknown))} for property schema"
            raise exception.InvalidSchemaError(message=text)
        given = schema_dict.get
        return cls(
            _TYPE_WORDS.get(given(TYPE), given(TYPE) or STRING),
            description=given(DESCRIPTION),
            default=given(DEFAULT),
            schema=given(SCHEMA),
            required=given(REQUIRED, False),
            constraints=list(_legacy_constraints(schema_dict)),
            implemented=given(IMPLEMENTED, True),
            update_allowed=given(UPDATE_ALLOWED, False),
            immutable=given(IMMUTABLE, False),
        )

    def allowed_param_prop_type(self) -> str:
        """The type of a parameter that can be a property of this type."""
        return {"Map": "Json", "List": "CommaDelimitedList"}.get(self.type, self.type)

    def _shown(self) -> dict[str, Any]:
        return {
            **super()._shown(),
            self.IMPLEMENTED: self.implemented,
            self.UPDATE_ALLOWED: self.update_allowed,
        }


_OTHER_KEYS = ("ConstraintDescription", "Ref", "Hidden", "Label", "MinCount", "MaxCount")
_TYPE_WORDS = {"CommaDelimitedList": LIST, "Json": MAP, "Any": "Any", "Timestamp": STRING}


def _legacy_constraints(given: Mapping[str, Any]) -> Iterator[constr.Constraint]:
    told = given.get("ConstraintDescription")
    if given.get(MIN_VALUE) is not None or given.get(MAX_VALUE) is not None:
        yield constr.Range(given.get(MIN_VALUE), given.get(MAX_VALUE), told)
    if given.get(MIN_LENGTH) is not None or given.get(MAX_LENGTH) is not None:
        yield constr.Length(given.get(MIN_LENGTH), given.get(MAX_LENGTH), told)
    if given.get(ALLOWED_VALUES) is not None:
        yield constr.AllowedValues(given[ALLOWED_VALUES], told)
    if given.get(ALLOWED_PATTERN) is not None:
        yield constr.AllowedPattern(given[ALLOWED_PATTERN], told)


def _inside(data_type: str, schema: Any) -> Any:
    """What is inside a list or a map, in zonda's form."""
    if schema is None or data_type not in (MAP, LIST):
        return None
    if isinstance(schema, constr.AnyIndexDict):
        schema = schema.value
    if data_type == LIST:
        if isinstance(schema, properties.Schema):
            return schema
        if TYPE in schema and not isinstance(schema[TYPE], Mapping | properties.Schema):
            return Schema.from_legacy(schema)
        return Schema(MAP, schema=schema)
    if isinstance(schema, properties.Schema):  # a map of anything of one kind: Heat does not look
        return schema.schema if isinstance(schema.schema, Mapping) else None
    if isinstance(schema.get(TYPE), str):  # the same in the form of 2013
        return None
    return schemata(schema)


def schemata(schema_dicts: Mapping[str, Any]) -> dict[str, Schema]:
    """Schemas by name, whatever they were declared as."""
    return {name: _named(name, each) for name, each in schema_dicts.items()}


def _named(name: str, each: Any) -> Schema:
    try:
        return Schema.from_legacy(_declared(each))
    except exception.InvalidSchemaError as error:
        raise exception.InvalidSchemaError(message=f"{name}: {error}") from None


def _declared(each: Any) -> Any:
    return each.schema if isinstance(each, Property) else each


class Property:
    """A schema with the name of its property."""

    def __init__(
        self, schema: Any, name: str | None = None, context: Any = None, path: Any = None
    ) -> None:
        self.schema = Schema.from_legacy(schema)
        self.name = name
        self.context = context
        self.path = path

    def required(self) -> bool:
        return self.schema.required

    def implemented(self) -> bool:
        return self.schema.implemented

    def update_allowed(self) -> bool:
        return self.schema.update_allowed

    def immutable(self) -> bool:
        return self.schema.immutable

    def has_default(self) -> bool:
        return self.schema.default is not None

    def default(self) -> Any:
        return self.schema.default_value()

    def type(self) -> str:
        return self.schema.type

    def support_status(self) -> SupportStatus:
        return self.schema.support_status

    def get_value(self, value: Any, validate: bool = False, translation: Any = None) -> Any:
        """``value`` in its type; raises StackValidationFailed if it is to be validated, else
        ValueError."""
        name = self.name or "value"
        held = Properties({name: self.schema}, {name: value}, context=self.context)
        if validate:
            held.validate()
        return held[name]


class _Declared(dict[str, Property]):
    """``Properties.props``. A plug-in may put another property in."""

    def __init__(self, owner: Properties, declared: Mapping[str, Schema], context: Any) -> None:
        super().__init__(
            {name: Property(schema, name, context) for name, schema in declared.items()}
        )
        self._owner = owner

    def __setitem__(self, name: str, declared: Any) -> None:
        super().__setitem__(name, declared)
        self._owner.declared_anew()

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._owner.declared_anew()


class Properties(Mapping[str, Any]):
    """The values of the declared properties; None where there is none.

    ``held`` is what the engine reads: ``zonda.hooks.schema.properties.Properties`` of the same
    data.
    """

    def __init__(
        self,
        schema: Mapping[str, Any],
        data: Any,
        resolver: Callable[..., Any] | None = None,
        parent_name: str | None = None,
        context: Any = None,
        section: str | None = None,
        translation: Any = None,
        rsrc_description: str | None = None,
        *,
        raw: Mapping[str, Any] | None = None,
    ) -> None:
        self.data = dict(data or {}) if isinstance(data, Mapping | None) else data
        if resolver is not None:
            self.data = resolver(self.data)
        self.context = context
        self.error_prefix = [part for part in (parent_name, section) if part]
        self.rsrc_description = rsrc_description
        self.translation = translation
        self._raw = raw
        self._rules: Callable[[], Sequence[Any] | None] | None = None
        self.finders = Finders()
        self.props = _Declared(self, schemata(schema), context)
        self.declared_anew()

    def declared_anew(self) -> None:
        """Begin again with the properties that are declared now."""
        lent = getattr(self.context, "lent", self.context)
        self.held = properties.Properties(
            {name: each.schema for name, each in self.props.items()},
            self.data,
            raw=self._raw,
            context=lent,
            rules=self._asked,
        )

    def _asked(self, held: Any) -> Sequence[Any]:
        try:
            rules = list((self._rules() if self._rules is not None else None) or ())
        except TemplateError:
            raise
        except Exception as error:  # a plug-in's own code, asked while a template is checked
            raise TemplateError(
                f"The translation rules fail: {describe_exception(error)}"
            ) from error
        return self.finders.wrap(rules) if is_only_looking(self.context) else rules

    def translate_by(self, rules: Callable[[], Sequence[Any] | None]) -> None:
        """Have ``rules`` asked for when the first value is read."""
        self._rules = rules
        self.declared_anew()

    def update_translation(
        self,
        rules: Sequence[Any] | None,
        client_resolve: bool = True,
        ignore_resolve_error: bool = False,
    ) -> None:
        """Apply ``rules`` to what is read from now on."""
        self.translate_by(lambda: rules)

    def __getitem__(self, key: str) -> Any:
        try:
            return self.held.convert(key)
        except TemplateError as error:
            raise ValueError(str(error)) from error

    def __contains__(self, key: object) -> bool:
        return key in self.props

    def __iter__(self) -> Iterator[str]:
        return iter(self.props)

    def __len__(self) -> int:
        return len(self.props)

    def __repr__(self) -> str:
        return f"Properties({', '.join(self.props)})"

    def get_user_value(self, key: str) -> Any:
        """The value as it was given."""
        return self.held.get_user_value(key)

    def validate(self, with_value: bool = True) -> None:
        """Raise StackValidationFailed for the first fault."""
        faults = self.held.validate(tuple(self.error_prefix))
        if faults:
            first = faults[0]
            raise exception.StackValidationFailed(
                error=first.label or None, path=first.path, message=first.message
            )
