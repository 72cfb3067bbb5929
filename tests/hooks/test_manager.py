"""The gathering of plug-ins: clashes, failures and where things come from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zonda.core.plugins import manager
from zonda.core.plugins.manager import Origin, Plugins, gather_plugins, make_manager
from zonda.hooks import hookimpl, support
from zonda.hooks.errors import PluginError, TemplateError
from zonda.hooks.function import Function
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.constraints import BaseCustomConstraint, Violation
from zonda.hooks.text.borders import Interrupted


class One(Resource):
    pass


class Two(Resource):
    pass


class Unusable(Resource):
    support_status = "SUPPORTED"  # type: ignore[assignment]


class Upper(Function):
    def resolve(self, scope: Any) -> Any:
        return None


class Lower(Upper):
    pass


def plugin(name: str, **hooks: Callable[..., Any]) -> Any:
    """A plug-in with these hooks."""
    marked = {hook: hookimpl(function) for hook, function in hooks.items()}
    return SimpleNamespace(__name__=name, **marked)


def types(name: str, **classes: type[Resource]) -> Any:
    named = {key.replace("_", "::"): cls for key, cls in classes.items()}
    return plugin(name, zonda_resource_types=lambda: named)


def installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *entries: tuple[str, str, Callable[[], Any]]
) -> None:
    """Pretend that distributions bring these entry points: name, distribution, loader."""

    def found() -> Any:
        for name, distribution, load in entries:
            folder = tmp_path / f"{distribution}-1.2.dist-info"
            folder.mkdir(exist_ok=True)
            (folder / "METADATA").write_text(f"Name: {distribution}\nVersion: 1.2\n")
            yield name, load, Distribution.at(folder)

    monkeypatch.setattr(manager, "list_installed", found)


def collect(*built_in: Any, discover: bool = False) -> Plugins:
    failures: list[PluginError] = []
    made = make_manager(*built_in, discover=discover, failures=failures)
    return gather_plugins(made, failures)


def test_everything_is_gathered_with_its_origin() -> None:
    class Even(BaseCustomConstraint):
        pass

    plugins = collect(
        types("first", A_B=One),
        plugin("second", zonda_constraints=lambda: {"even": Even}),
        plugin("third", zonda_runners=lambda: {"r": lambda settings: None}),
        plugin("fourth", zonda_client_plugins=lambda: {"c": dict}),
    )
    assert plugins.resource_types == {"A::B": One}
    assert plugins.constraints == {"even": Even}
    assert list(plugins.runners) == ["r"]
    assert plugins.client_plugins == {"c": dict}
    assert plugins.failures == []
    assert set(plugins.origins) == {
        ("resource type", "A::B"),
        ("constraint", "even"),
        ("runner", "r"),
        ("client plug-in", "c"),
    }


def test_two_plugins_with_one_name_are_an_error_that_names_both_distributions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed(
        monkeypatch,
        tmp_path,
        ("disks", "acme-disks", lambda: types("disks", A_B=One)),
        ("storage", "other-storage", lambda: types("storage", A_B=Two)),
    )
    plugins = collect(types("other", C_D=Two), discover=True)
    first, caught = plugins.failures
    assert first.distribution == "acme-disks"
    assert first.message == caught.message
    assert caught.message == (
        "Two plug-ins bring the resource type A::B: disks (acme-disks 1.2) and "
        "storage (other-storage 1.2); neither is used."
    )
    assert caught.distribution == "other-storage"
    assert caught.hint
    assert plugins.resource_types == {"C::D": Two}
    assert plugins.explain_missing_type("A::B") == caught.message


def test_nobody_takes_a_name_of_zonda_away() -> None:
    failures: list[PluginError] = []
    made = make_manager(
        types("own", A_B=One), files=[types("file", A_B=Two)], discover=False, failures=failures
    )
    plugins = gather_plugins(made, failures)
    assert plugins.resource_types == {"A::B": One}
    assert [str(each) for each in plugins.failures] == [
        "Two plug-ins bring the resource type A::B: own and file; that of own is used."
    ]


def test_a_third_plugin_with_the_name_is_told_of_too() -> None:
    made = make_manager(
        files=[types(name, A_B=cls) for name, cls in (("a", One), ("b", Two), ("c", One))],
        discover=False,
    )
    plugins = gather_plugins(made)
    assert plugins.resource_types == {}
    assert [each.plugin for each in plugins.failures] == ["a", "b", "c"]


def test_a_plugin_may_disable_one_of_its_types() -> None:
    off = support.Unavailable("it needs acme: pip install acme")
    both = plugin("acme", zonda_resource_types=lambda: {"A::On": One, "A::Off": off})
    plugins = collect(both)
    assert plugins.resource_types == {"A::On": One}
    assert plugins.explain_missing_type("A::Off") == (
        "The resource type A::Off of acme cannot be used here: it needs acme: pip install acme"
    )
    assert plugins.explain_missing_type("A::Other") == ""


def test_a_type_of_a_service_that_no_plugin_brings_is_of_openstack() -> None:
    plugins = collect(plugin("acme", zonda_resource_types=lambda: {"OS::Nova::Server": One}))
    assert plugins.explain_missing_type("OS::Cinder::Volume").endswith(
        "a type of OpenStack: pip install 'zonda-heat-compat[openstack]'."
    )
    assert plugins.explain_missing_type("OS::Nova::Servr") == ""
    assert plugins.explain_missing_type("OS::Heat::Valeu") == ""


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def needs() -> Any:
        raise ModuleNotFoundError("No module named 'acme_sql.rows'", name="acme_sql.rows")

    installed(monkeypatch, tmp_path, ("pg", "acme-pg", needs))
    plugins = collect(discover=True)
    assert plugins.failures[0].hint.startswith("It needs acme_sql, which is not installed.")
    assert plugins.explain_missing_type("A::B").endswith(
        "failed (acme-pg): see 'zonda plugin list'."
    )


def test_a_plugin_that_cannot_be_imported_hurts_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken() -> Any:
        raise ImportError("No module named 'gone'")

    installed(
        monkeypatch,
        tmp_path,
        ("bad", "acme-bad", broken),
        ("good", "acme-good", lambda: types("good", A_B=One)),
    )
    plugins = collect(discover=True)
    assert plugins.resource_types == {"A::B": One}
    (failure,) = plugins.failures
    assert (failure.plugin, failure.distribution) == ("bad", "acme-bad")
    assert "No module named 'gone'" in failure.message
    assert isinstance(failure.__cause__, ImportError)
    assert plugins.origins["resource type", "A::B"] == Origin("good", "acme-good", "1.2")


def raising() -> Any:
    raise RuntimeError("no network")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        pytest.param(
            plugin("bad", zonda_resource_types=lambda wrong: {}),
            "does not fit the hooks",
            id="bad-signature",
        ),
        pytest.param(
            plugin("bad", zonda_resources=lambda: {}), "does not fit the hooks", id="unknown-hook"
        ),
        pytest.param(plugin("bad", zonda_resource_types=raising), "no network", id="raises"),
        pytest.param(
            plugin("bad", zonda_resource_types=lambda: [One]),
            "must give a mapping, not list",
            id="no-mapping",
        ),
        pytest.param(
            plugin("bad", zonda_resource_types=lambda: {"X": dict}),
            "does not extend",
            id="not-a-resource-class",
        ),
        pytest.param(
            plugin("bad", zonda_resource_types=lambda: {5: One}), "not text", id="name-not-text"
        ),
        pytest.param(
            types("bad", **{"A_\ud800": One}), "not text", id="name-half-a-surrogate-pair"
        ),
        pytest.param(
            plugin("bad", zonda_runners=lambda: {"r": 5}), "cannot be called", id="no-factory"
        ),
        pytest.param(
            plugin("bad", zonda_resource_types=lambda: sys.exit(3)), "SystemExit: 3", id="exits"
        ),
    ],
)
def test_a_broken_plugin_is_reported_and_left_out(bad: Any, words: str) -> None:
    plugins = collect(bad, types("good", A_B=One))
    assert plugins.resource_types == {"A::B": One}
    assert plugins.runners == {}
    (failure,) = plugins.failures
    assert words in failure.message
    assert failure.plugin


def test_one_plugin_registered_twice_is_reported() -> None:
    twice = types("twice", A_B=One)
    plugins = collect(twice, twice)
    assert len(plugins.failures) == 1


def test_functions_are_asked_for_once_for_each_version() -> None:
    asked: list[str] = []

    def functions(version: str) -> dict[str, type[Function]]:
        asked.append(version)
        return {"upper": Upper} if version >= "2018" else {}

    plugins = collect(plugin("f", zonda_functions=functions))
    assert plugins.functions("2018-08-31") == {"upper": Upper}
    assert plugins.functions("2018-08-31") == {"upper": Upper}
    assert plugins.functions("2013-05-23") == {}
    assert asked == ["2018-08-31", "2013-05-23"]


def test_a_function_that_two_plugins_bring_is_no_plain_data() -> None:
    made = make_manager(
        files=[
            plugin("f", zonda_functions=lambda version: {"upper": Upper}),
            plugin("g", zonda_functions=lambda version: {"upper": Lower}),
        ],
        discover=False,
    )
    plugins = gather_plugins(made)
    found = plugins.functions("2018-08-31")["upper"]
    assert found not in (Upper, Lower)
    scope: Any = None
    with pytest.raises(TemplateError, match="Two plug-ins bring the function upper"):
        found(scope, "upper", [], ())


def test_a_constraint_that_two_plugins_bring_is_kept_by_no_value() -> None:
    class Even(BaseCustomConstraint):
        pass

    class Odd(BaseCustomConstraint):
        pass

    made = make_manager(
        files=[
            plugin("f", zonda_constraints=lambda: {"number": Even}),
            plugin("g", zonda_constraints=lambda: {"number": Odd}),
        ],
        discover=False,
    )
    found = gather_plugins(made).constraints["number"]()
    with pytest.raises(Violation, match="bring the constraint number: f and g") as caught:
        found.validate(4, None)
    assert caught.value.discreet == str(caught.value)  # for a hidden value, too


@pytest.mark.parametrize(
    ("kind", "hook"),
    [
        pytest.param("runner", "zonda_runners", id="runner"),
        pytest.param("client plug-in", "zonda_client_plugins", id="client"),
    ],
)
def test_what_two_plugins_bring_is_told_by_kind(kind: str, hook: str) -> None:
    files = [
        plugin(name, **{hook: lambda cls=cls: {"x": cls}}) for name, cls in (("f", One), ("g", Two))
    ]
    plugins = gather_plugins(make_manager(files=files, discover=False))
    assert f"Two plug-ins bring the {kind} x: f and g" in plugins.explain_missing(kind, "x")
    assert plugins.explain_missing(kind, "y") == ""


def test_a_hook_need_not_take_its_arguments() -> None:
    plugins = collect(plugin("f", zonda_functions=lambda: {"upper": Upper}))
    assert plugins.functions("2018-08-31") == {"upper": Upper}


def test_without_a_manager_there_are_no_functions() -> None:
    assert Plugins().functions("2018-08-31") == {}


def test_the_real_entry_points_can_be_asked_for() -> None:
    for name, load, distribution in manager.list_installed():
        assert name
        assert callable(load)
        assert distribution is not None


def test_all_origins_in_order() -> None:
    made = make_manager(types("b", A=One), types("a", B=Two), discover=False)
    assert [str(origin) for origin in made.origins()] == ["b", "a"]


@pytest.mark.parametrize(
    "how", [SystemExit(3), type("Odd", (BaseException,), {})("x")], ids=["exit", "odd"]
)
def test_a_plugin_that_exits_while_it_is_imported_is_left_out(
    how: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken() -> Any:
        raise how

    good = ("good", "acme-good", lambda: types("good", A_B=One))
    installed(monkeypatch, tmp_path, ("bad", "acme-bad", broken), good)
    plugins = collect(discover=True)
    assert plugins.resource_types == {"A::B": One}
    assert [failure.plugin for failure in plugins.failures] == ["bad"]


def test_whoever_presses_ctrl_c_is_no_plugin() -> None:
    def interrupted() -> Any:
        raise Interrupted

    with pytest.raises(KeyboardInterrupt):
        collect(plugin("slow", zonda_resource_types=interrupted))


def test_what_is_wrong_in_a_hook_costs_nothing_else() -> None:
    class Odd(BaseCustomConstraint):
        pass

    brought = {"A::B": One, 5: Two, "": Two, "C::D": dict, "E::F": Unusable}
    plugins = collect(
        plugin(
            "mixed",
            zonda_resource_types=lambda: brought,
            zonda_constraints=lambda: {"odd": Odd, "even": dict},
            zonda_runners=lambda: {"r": 5, "s": One},
        )
    )
    assert plugins.resource_types == {"A::B": One}
    assert plugins.constraints["odd"] is Odd
    assert plugins.runners == {"s": One}
    told = "\n".join(failure.message for failure in plugins.failures)
    for words in ("gives 5 as a name", "gives '' as a name", "C::D of mixed", "E::F of mixed"):
        assert words in told
    assert "support_status is 'SUPPORTED'" in plugins.explain_missing_type("E::F")


def test_a_fault_of_every_version_is_told_once() -> None:
    plugins = collect(
        plugin("f", zonda_functions=lambda: {"bad": 3}), plugin("g", zonda_functions=raising)
    )
    for version in ("2015-10-15", "2018-08-31"):
        found = plugins.functions(version)["bad"]
        with pytest.raises(
            TemplateError, match="function bad of f cannot be used here: 3 does not"
        ):
            found(None, "bad", [], ())  # type: ignore[arg-type]
    assert [failure.plugin for failure in plugins.failures] == ["f", "g"]


def test_both_that_claim_a_name_are_told() -> None:
    files = [types("a", A_B=One), types("b", A_B=Two), types("c", A_B=One, C_D=Two)]
    plugins = gather_plugins(make_manager(files=files, discover=False))
    assert [failure.plugin for failure in plugins.failures] == ["a", "b", "c"]
    assert plugins.resource_types == {"C::D": Two}


def test_a_plugin_says_of_itself_what_it_has_found() -> None:
    def summary(types: list[str]) -> str:
        return f"used: {', '.join(types)}"

    def broken() -> str:
        raise ValueError("who knows")

    first = plugin("first", zonda_resource_types=lambda: {"A": One}, zonda_summary=summary)
    plugins = collect(first, types("second", B=Two), plugin("third", zonda_summary=broken))

    assert plugins.list_summaries() == [("first", "used: A")]
    (failure,) = plugins.failures
    assert "Plug-in third failed in zonda_summary: ValueError: who knows" in str(failure)
