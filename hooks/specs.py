"""The hook specifications: every door through which a plug-in enters.

Arguments are passed by name, so one may be added later and none is ever renamed. Built-in types,
functions, constraints and runners come through the same hooks as a stranger's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from .declared_types import TypeDocument
from .events import SinkFactory
from .function import Function
from .markers import hookspec
from .policies import Policy
from .resources.resource import Resource
from .runners.base import RunnerFactory
from .schema.constraints import BaseCustomConstraint

#: Makes the class of a text; raises ValidationErrors with every fault, each with its place.
TypeReader = Callable[[TypeDocument], type[Resource]]


@hookspec
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """Resource classes by type name, e.g. ``{"OS::Heat::Value": Value}``.

    Called once, before the first template is parsed. A name that two plug-ins give is used by
    neither; ``support.Unavailable(reason)`` in place of a class disables one name; an empty
    mapping is fine.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_type_readers() -> Mapping[str, TypeReader]:
    """Readers that make types of texts, by the key at the top of these, e.g. ``zonda_type``.

    Called once, before the first template is parsed. A reader is called for each such text; an
    empty mapping is fine.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_type_texts() -> Sequence[tuple[str, str]]:
    """Types that a package brings as texts: (name of the file for people, text).

    Called once, after the readers are known. A text that has none is a fault of the package.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_functions(version: str) -> Mapping[str, type[Function]]:
    """Intrinsic functions by name for one template version (a date, e.g. ``2018-08-31``).

    Called once per version, when the first template of that version is parsed. Heat's own
    functions cannot be replaced; an empty mapping is fine.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_constraints() -> Mapping[str, type[BaseCustomConstraint]]:
    """Custom constraints by the name that templates use, e.g. ``{"ip_addr": IPConstraint}``.

    Called once, before the first template is validated. An empty mapping is fine.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_summary(types: Collection[str]) -> str:
    """One line for ``zonda plugin list``: what the plug-in has found, what it has not, and why.

    ``types``: the names of its resource types that are used, not those of another plug-in.
    Called when plug-ins are listed, and at no other time. An empty text shows nothing.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_cloud_checks(name: str) -> Sequence[tuple[str, str, str]]:
    """Rows of ``zonda cloud check NAME``: what was asked, the verdict, and how or why.

    The verdict is ``works``, ``absent`` or ``fails``. ``name``: of the plug-in's own settings; ''
    for the cloud that acts where none is named. Called by that command, and at no other time. An
    empty answer means that the plug-in knows of no clouds; a ZondaError is shown as it is.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """Kinds of workflow runner by name, e.g. ``{"http": HttpRunner}``.

    Called once. A factory receives the runner's section of the settings (``endpoint``, credentials,
    limits), to which the engine adds ``clock`` (a ``Clock``) and ``random`` (a ``random.Random``)
    and, where there are any, the ``allowed_networks`` and ``denied_networks`` of all runners, and
    gives a runner; it is called when the first workflow of that runner is started.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_client_plugins() -> Mapping[str, type[Any]]:
    """Client plug-ins by name, for ``Resource.client()`` and ``Resource.client_plugin()``.

    Called once. A class receives nothing and offers ``client()`` and ``ignore_not_found(error)``.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_event_sinks() -> Mapping[str, SinkFactory]:
    """Kinds of event sink by name, e.g. ``{"webhook": WebhookSink}``: who is told of all events.

    Called once. A factory receives a section ``[sinks.NAME]`` of the settings without what zonda
    reads itself (``kind``, ``events``, ``scope``), to which ``clock`` (a ``Clock``) and ``random``
    (a ``random.Random``) are added, and gives a ``sinks.EventSink``; it is called, in a thread that
    delivers, when the first event for that sink is there.
    """
    raise AssertionError("a specification is never called")


@hookspec
def zonda_policies() -> Mapping[str, Policy]:
    """Policies by name: objects with ``check(caller, operation, target)``, which may refuse.

    Called once. ``zonda serve`` asks each of them about each request that the table of roles lets
    through, in threads, several at a time; a reason refuses the request, and so does an exception.
    """
    raise AssertionError("a specification is never called")
