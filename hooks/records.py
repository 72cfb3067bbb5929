"""Dataclasses whose methods are made at their first use.

Python's own ``dataclass`` imports ``inspect`` and compiles up to six methods for each class while
its module is imported: a third of what a short command took. Here ``__init__``, ``__eq__`` and
``__hash__`` are compiled when first used, and all classes share the others. ``core`` and
``hooks`` import these names from here; type checkers take them for Python's own, and
``dataclasses.fields``, ``replace`` and ``asdict`` work on the classes. Not here, since unused:
``order``, ``InitVar``, a dataclass of Python's below or above such a class.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

#: The records of a class made without a compiled ``__init__``: to compile one costs as much.
_INTERPRETED = 20


class _Missing:
    """No default."""


class _Field:
    """One field: name, type as text, defaults, and whether it is shown and compared."""

    name: str
    type: Any

    def __init__(
        self,
        *,
        default: Any = _Missing,
        default_factory: Any = _Missing,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
        metadata: Any = None,
        kw_only: bool = False,
    ) -> None:
        self.default, self.default_factory = default, default_factory
        self.init, self.kw_only, self.repr, self.compare = init, kw_only, repr, compare
        self.metadata = metadata or {}

    @property
    def _field_type(self) -> Any:
        """The mark that ``dataclasses.fields`` looks for."""
        import dataclasses

        return dataclasses._FIELD  # type: ignore[attr-defined]


def _decorate(
    cls: Any = None,
    /,
    *,
    eq: bool = True,
    frozen: bool = False,
    repr: bool = True,
    slots: bool = False,
) -> Any:
    """``dataclasses.dataclass``."""
    if cls is None:
        return lambda cls: _decorate(cls, eq=eq, frozen=frozen, repr=repr, slots=slots)
    items, own = _collect_fields(cls), cls.__dict__
    given = tuple(name for name, item in items.items() if item.init)
    body: dict[str, Any] = {"__dataclass_fields__": items, "__record_given__": given}
    if "__match_args__" not in own:
        body["__match_args__"] = tuple(name for name in given if not items[name].kw_only)
    if repr and "__repr__" not in own:
        body["__repr__"] = _show
    if frozen:
        body["__setattr__"] = body["__delattr__"] = _refuse
    deferred: dict[str, Callable[[Any], Any]] = {}
    if eq and "__eq__" not in own:
        deferred["__eq__"] = _compile_equality
    if eq and own.get("__hash__") is None:
        if frozen:
            deferred["__hash__"] = _compile_hash
        else:
            body["__hash__"] = None
    made = (_make_slotted if slots else _add)(cls, items, body)
    for name, compile_for in deferred.items():
        setattr(made, name, _Deferred(made, name, compile_for))
    compile_init = partial(_compile_init, frozen=frozen, slots=slots)
    made.__init__ = _DeferredInit(made, "__init__", compile_init)
    return made


def _add(cls: Any, items: dict[str, _Field], body: dict[str, Any]) -> Any:
    for name, item in items.items():
        if isinstance(cls.__dict__.get(name), _Field):
            delattr(cls, name)
        if item.default is not _Missing:
            setattr(cls, name, item.default)
    for name, value in body.items():
        setattr(cls, name, value)
    return cls


def _make_slotted(cls: Any, items: dict[str, _Field], body: dict[str, Any]) -> Any:
    """Make the class once more, since slots cannot be added to one."""
    left_out = {*items, "__dict__", "__weakref__"}
    body |= {name: value for name, value in cls.__dict__.items() if name not in left_out}
    above = {name for base in cls.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    body["__slots__"] = tuple(name for name in items if name not in above)
    body.setdefault("__getstate__", _get_state)
    body.setdefault("__setstate__", _set_state)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _collect_fields(cls: Any) -> dict[str, _Field]:
    items: dict[str, _Field] = {}
    for base in cls.__mro__[:0:-1]:
        items |= base.__dict__.get("__dataclass_fields__", {})
    for name, kind in cls.__annotations__.items():
        if str(kind).removeprefix("typing.").startswith("ClassVar"):
            continue
        value = cls.__dict__.get(name, _Missing)
        item = items[name] = value if isinstance(value, _Field) else _Field(default=value)
        item.name, item.type = name, kind
        if item.default.__class__.__hash__ is None:
            raise ValueError(
                f"{cls.__name__}.{name}: a default that can change; use default_factory"
            )
    return items


class _Deferred:
    """A method that is compiled when it is first looked up."""

    def __init__(self, cls: Any, name: str, compile_for: Callable[[Any], Any]) -> None:
        self._cls, self._name, self._compile_for = cls, name, compile_for

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        compiled = self._compile_for(self._cls)
        setattr(self._cls, self._name, compiled)
        return compiled if instance is None else compiled.__get__(instance)


class _DeferredInit(_Deferred):
    """``__init__``, which fills the first records of a class without being compiled."""

    _left = _INTERPRETED

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        # Python 3.13's inspect.signature hands the class over as the instance
        if instance is None or isinstance(instance, type) or self._left <= 0:
            return super().__get__(instance, owner)
        self._left -= 1
        return partial(self._fill, instance)

    def _fill(self, record: Any, /, *values: Any, **named: Any) -> None:
        found, at, by_name = {}, 0, 0
        for name, item in self._cls.__dataclass_fields__.items():
            if item.init and at < len(values) and not item.kw_only:
                found[name], at = values[at], at + 1
            elif item.init and name in named:
                found[name], by_name = named[name], by_name + 1
            elif item.default is not _Missing:
                found[name] = item.default
            elif item.default_factory is not _Missing:
                found[name] = item.default_factory()
            elif item.init:
                by_name = -1  # missing
                break
        if at < len(values) or by_name < len(named):  # the compiled one says what is wrong
            super().__get__(record)(*values, **named)
            return
        for name, value in found.items():
            object.__setattr__(record, name, value)
        if hasattr(record, "__post_init__"):
            record.__post_init__()


def _compile(cls: Any, name: str, parameters: list[str], lines: list[str], known: Any) -> Any:
    exec(f"def {name}({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), known)
    known[name].__qualname__ = f"{cls.__qualname__}.{name}"
    return known[name]


def _compile_init(cls: Any, *, frozen: bool, slots: bool) -> Any:
    known: dict[str, Any] = {"MISSING": _Missing, "keep": object.__setattr__}
    parameters, named, lines = ["self"], ["*"], []
    for name, item in cls.__dataclass_fields__.items():
        parameter = value = name
        if item.default_factory is not _Missing:
            known[f"make_{name}"] = item.default_factory
            parameter = f"{name}=MISSING"
            value = f"make_{name}()" + (f" if {name} is MISSING else {name}" if item.init else "")
        elif item.default is not _Missing:
            known[f"default_{name}"] = item.default
            parameter = f"{name}=default_{name}"
            value = name if item.init else f"default_{name}"
        elif not item.init:
            continue
        if item.init:
            (named if item.kw_only else parameters).append(parameter)
        if frozen and slots:
            known[f"set_{name}"] = getattr(cls, name).__set__
            lines.append(f"set_{name}(self, {value})")
        else:
            lines.append(f"keep(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters += named if named[1:] else []
    return _compile(cls, "__init__", parameters, lines, known)


def _compile_equality(cls: Any) -> Any:
    mine, other = _list_compared(cls, "self"), _list_compared(cls, "other")
    lines = [f"if type(other) is type(self): return {mine} == {other}", "return NotImplemented"]
    return _compile(cls, "__eq__", ["self", "other"], lines, {})


def _compile_hash(cls: Any) -> Any:
    return _compile(cls, "__hash__", ["self"], [f"return hash({_list_compared(cls, 'self')})"], {})


def _list_compared(cls: Any, name: str) -> str:
    items = cls.__dataclass_fields__.values()
    return "(" + "".join(f"{name}.{item.name}, " for item in items if item.compare) + ")"


def _show(self: Any) -> str:
    items = type(self).__dataclass_fields__.values()
    shown = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in items if item.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse(self: Any, name: str, *value: Any) -> None:
    raise AttributeError(f"cannot change {name!r} of a frozen {type(self).__qualname__}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in type(self).__dataclass_fields__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(type(self).__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)


def _replace(record: Any, /, **changes: Any) -> Any:
    for name in record.__record_given__:
        if name not in changes:
            changes[name] = getattr(record, name)
    return record.__class__(**changes)


def _list_fields(record: Any) -> tuple[_Field, ...]:
    return tuple(record.__dataclass_fields__.values())


def _make_dict(record: Any) -> Any:
    if hasattr(type(record), "__dataclass_fields__"):
        return {name: _make_dict(getattr(record, name)) for name in record.__dataclass_fields__}
    if isinstance(record, dict):
        return {key: _make_dict(value) for key, value in record.items()}
    if isinstance(record, list | tuple):
        return type(record)(_make_dict(each) for each in record)
    return record


if TYPE_CHECKING:
    from dataclasses import MISSING as MISSING
    from dataclasses import Field as Field
    from dataclasses import asdict as asdict
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import fields as fields
    from dataclasses import replace as replace
else:
    MISSING, Field, asdict, dataclass, field = _Missing, _Field, _make_dict, _decorate, _Field
    fields, replace = _list_fields, _replace
