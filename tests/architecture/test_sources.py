"""What the sources of the rooms may import, read and catch."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("core", "hooks", "builtin_resources", "workflows")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in MODULES]

#: Who may catch everything, and why. There are three borders; the one to the plug-ins is crossed
#: when they are loaded and when they are called.
CATCHES_EVERYTHING: dict[str, str] = {
    "core/api/server/dispatch.py": "border: any exception becomes an answer",
    "core/cli/main.py": "border: any exception becomes a sentence",
    "core/app/event_sinks.py": "border: a plug-in's sink is tried",
    "core/events/delivery.py": "border: a plug-in's sink is called",
    "core/events/workers.py": "the top of a thread that nobody would miss: it goes on",
    "core/settings/section_checks.py": "border: the schema of a plug-in's kind is asked",
    "core/plugins/files.py": "border: importing a stranger's file",
    "core/app/resource_services.py": "border: a plug-in's runner is closed",
    "core/engine/plugins/values.py": "border: a plug-in is asked for an attribute",
    "core/engine/plugins/operation.py": "border: a plug-in is called",
    "core/engine/plugins/reasons.py": "border: what a plug-in has raised is looked at",
    "core/engine/plugins/traces.py": "border: what a plug-in has raised is looked at",
    "core/functions/foreign.py": "border: a plug-in's function is called",
    "core/engine/drift/observe.py": "border: a plug-in is called",
    "hooks/http/resolver.py": "the top of a thread whose end others wait for: they are told",
    "hooks/schema/constraints.py": "border: a plug-in's rule is asked",
    "hooks/resources/declaration.py": "border: a stranger's class is looked at",
    "core/engine/execution/loop.py": "border: one broken step must not stop the others",
    "core/engine/runtime/driver.py": (
        "border: the inbox, where one broken step must not stop the others"
    ),
    "core/engine/runtime/engine.py": "the end of the engine's thread: everybody who waits is told",
    "core/engine/runtime/listeners.py": "border: a listener's trouble is not the engine's",
    "core/engine/model/effects.py": "border: the pool's side of the inbox",
    "core/reports/outputs.py": "border: a plug-in is asked for an attribute",
    "core/engine/diff/prepare.py": "border: a plug-in decides about an update",
    "core/engine/preview/children.py": "border: a plug-in is asked for its nested template",
    "core/engine/preview/child_templates.py": "border: a plug-in is asked for an attribute",
    "core/engine/preview/outputs.py": "border: a plug-in is asked for an attribute",
    "core/engine/diff/judge.py": "border: a plug-in decides about an update",
    "core/engine/plugins/remains.py": "border: a plug-in is asked what a deletion leaves",
    "core/template/lint/linter.py": "border: what is only advice ends nothing",
    "core/template/dependencies/plugin_edges.py": "border: a plug-in is asked what it depends on",
    "core/template/validation/resource.py": "border: a plug-in's validate is called",
    "core/template/nested/validation.py": "border: a plug-in is asked for its nested template",
    "core/introspection/template_tree.py": "border: a plug-in is asked for its nested template",
    "workflows/service/call_function.py": "border: a user's function, in a process of its own",
    "hooks/text/sanitize.py": "a stranger's __str__ is called",
    "hooks/conformance/backend.py": "border: importing and asking a stranger's back end",
    "hooks/conformance/crash_rules.py": "border: a plug-in is put on trial",
    "hooks/conformance/property_rules.py": "border: a plug-in is put on trial",
    "hooks/conformance/lifecycle_rules.py": "border: a plug-in is put on trial",
    "hooks/conformance/suite.py": "border: a plug-in is put on trial",
    "hooks/conformance/leak_detection.py": "border: a plug-in is put on trial",
    "core/plugins/resource_mapping.py": "border: a stranger's mapping is asked what it would bring",
    "core/api/identity/policy.py": "border: a policy of a plug-in is asked",
    "core/plugins/manager.py": "border: importing and asking a stranger's package",
    "hooks/resources/resource.py": (
        "border: a client's error goes to its plug-in, which raises it again"
    ),
}

#: Who may ask the time besides core/system/clock.py, and why.
ASKS_THE_TIME: dict[str, str] = {
    "core/system/clock.py": "it is the clock",
    "workflows/service/clock.py": "the runner service is a program of its own",
}

#: Who may make chance besides core/system/ids.py, and why.
MAKES_CHANCE: dict[str, str] = {"core/system/ids.py": "it is the source"}

#: Who may read environment variables besides core/settings/settings.py, and why.
READS_THE_ENVIRONMENT: dict[str, str] = {
    "core/cli/console/streams.py": "help is as wide as COLUMNS says, without settings",
    "core/settings/settings.py": "it is the reader",
    "hooks/processes/detached_run.py": "commands get the environment of their caller",
}

TIME = {
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "time.sleep",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
}
CHANCE_MODULES = {"secrets"}
CHANCE = {
    "uuid.uuid1",
    "uuid.uuid4",
    "os.urandom",
    "random.SystemRandom",
    "random.random",
    "random.choice",
    "random.randint",
    "random.uniform",
    "random.shuffle",
}
WIDE = {"Exception", "BaseException"}
ENVIRONMENT = {"os.environ", "os.getenv", "os.putenv", "environ", "getenv"}


def dotted(node: ast.expr) -> str:
    """``a.b.c`` for a chain of names, else an empty text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


@dataclass(frozen=True)
class Source:
    """What a module does, as far as it is asked here. Its tree would be large to keep."""

    calls: frozenset[str]
    reads: frozenset[str]
    #: (level, module) of every import; level 0 is absolute.
    imports: tuple[tuple[int, str], ...]
    #: ``module.name`` of every ``from module import name``.
    imported_names: frozenset[str]
    #: Whether a handler catches everything, and does not pass it on.
    catches_everything: bool


def looked_at(text: str) -> Source:
    nodes = list(ast.walk(ast.parse(text)))
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return Source(
        frozenset(dotted(node.func) for node in nodes if isinstance(node, ast.Call)),
        frozenset(dotted(node) for node in nodes if isinstance(node, (ast.Attribute, ast.Name))),
        tuple((0, name) for name in plain)
        + tuple((each.level, each.module or "") for each in froms),
        frozenset(
            f"{each.module}.{alias.name}"
            for each in froms
            if not each.level
            for alias in each.names
        ),
        any(catches(node) for node in nodes if isinstance(node, ast.ExceptHandler)),
    )


def catches(node: ast.ExceptHandler) -> bool:
    """Whether it catches Exception, BaseException or anything, and does not pass it on."""
    if ast.unparse(node.body[-1]) == "raise":
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(each is None or dotted(each) in WIDE for each in caught)


@cache
def source_of(path: Path) -> Source:
    """Of a module of ours, parsed once for all checks."""
    return looked_at(path.read_text())


def faults_of_form(path: Path, source: Source) -> list[str]:
    """Imports that are neither relative inside a room nor absolute across rooms."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    room, depth = parts[0], len(parts) - 1
    faults = []
    for level, module in source.imports:
        head = module.split(".")[0]
        if level == 0 and head in (*ROOMS, "src"):
            faults.append(f"import of {module}: the import name is zonda.{module}")
        if level > depth:
            faults.append(f"{'.' * level}{module} leaves the room {room}")
    return faults


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_imports_cross_rooms_only_by_the_full_name(path: Path) -> None:
    assert faults_of_form(path, source_of(path)) == []


@pytest.mark.parametrize(
    ("module", "source", "faults"),
    [
        pytest.param("core/x.py", "import core.y", 1, id="bare-room"),
        pytest.param("core/x.py", "from hooks import y", 1, id="bare-room-from"),
        pytest.param("core/x.py", "from ..hooks import y", 1, id="relative-out-of-the-room"),
        pytest.param("core/a/x.py", "from ..b import y", 0, id="relative-inside"),
        pytest.param("core/a/x.py", "from zonda.hooks import y", 0, id="absolute-across"),
    ],
)
def test_the_form_check_sees(module: str, source: str, faults: int) -> None:
    assert len(faults_of_form(ROOT / module, looked_at(source))) == faults


def offenders(check: dict[str, str], bad: set[str]) -> tuple[set[str], set[str]]:
    """(modules that offend without leave, modules with leave that do not need it)."""
    return bad - check.keys(), check.keys() - bad


def modules_where(test: Callable[[Source], object]) -> set[str]:
    return {name for name, path in zip(NAMES, MODULES, strict=True) if test(source_of(path))}


def test_only_the_borders_catch_everything() -> None:
    assert offenders(
        CATCHES_EVERYTHING, modules_where(lambda source: source.catches_everything)
    ) == (set(), set())


def test_only_the_clock_asks_the_time() -> None:
    found = modules_where(lambda source: (source.calls | source.imported_names) & TIME)
    assert offenders(ASKS_THE_TIME, found) == (set(), set())


def makes_chance(source: Source) -> bool:
    modules = {module for level, module in source.imports if not level}
    # ``random`` may be a local name for the source that was handed in.
    found = {call for call in source.calls & CHANCE if call.partition(".")[0] in modules}
    return bool(found | source.imported_names & CHANCE | modules & CHANCE_MODULES)


def test_only_one_module_makes_chance() -> None:
    assert offenders(MAKES_CHANCE, modules_where(makes_chance)) == (set(), set())


def test_core_and_hooks_make_records_and_no_dataclasses() -> None:
    """A dataclass of Python's is compiled while its module is imported."""
    found = modules_where(lambda source: "dataclasses" in {name for _, name in source.imports})
    ours = {name for name in found if name.startswith(("core/", "hooks/"))}
    # Plug-ins derive dataclasses of their own from the other one.
    assert ours == {"hooks/records.py", "hooks/http/config.py"}


def test_only_the_settings_read_environment_variables() -> None:
    found = modules_where(lambda source: source.reads & ENVIRONMENT)
    assert offenders(READS_THE_ENVIRONMENT, found) == (set(), set())


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        pytest.param("try: pass\nexcept Exception: pass", True, id="plain"),
        pytest.param("try: pass\nexcept (ValueError, BaseException): pass", True, id="in-a-tuple"),
        pytest.param("try: pass\nexcept: pass", True, id="bare"),
        pytest.param("try: pass\nexcept ValueError: pass", False, id="narrow"),
        pytest.param("try: pass\nexcept BaseException:\n  f()\n  raise", False, id="clean-up"),
    ],
)
def test_the_catch_check_sees(source: str, seen: bool) -> None:
    assert looked_at(source).catches_everything is seen


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        pytest.param("import uuid\nuuid.uuid4()", True, id="uuid4"),
        pytest.param("from uuid import uuid4\nuuid4()", True, id="uuid4-by-name"),
        pytest.param("import secrets", True, id="secrets"),
        pytest.param("import random\nrandom.choice(x)", True, id="the-module-random"),
        pytest.param("random = self.context.random\nrandom.choice(x)", False, id="handed-in"),
        pytest.param("import uuid\nuuid.uuid5(a, b)", False, id="uuid5-is-no-chance"),
    ],
)
def test_the_chance_check_sees(source: str, seen: bool) -> None:
    assert makes_chance(looked_at(source)) is seen
