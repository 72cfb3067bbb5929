"""Who owns the name ``heat``, and what is found under it. Each in a process of its own."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")


def run(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
        timeout=60,
    )


def other_heat(folder: Path) -> Path:
    package = folder / "heat"
    package.mkdir()
    (package / "__init__.py").write_text("OTHER = True\n")
    return folder


def test_the_name_is_there_in_every_process(tmp_path: Path) -> None:
    done = run("from heat.engine import resource; print(resource.Resource.__name__)", tmp_path)
    assert (done.stdout, done.stderr) == ("Resource\n", "")


def test_nothing_is_loaded_before_it_is_asked_for(tmp_path: Path) -> None:
    code = "import sys; print([m for m in sys.modules if m.split('.')[0] in ('heat', 'zonda')])"
    assert run(code, tmp_path).stdout == "[]\n"


def test_another_heat_keeps_its_name(tmp_path: Path) -> None:
    path = str(other_heat(tmp_path))
    code = "import heat, heat.engine"
    done = run("import heat; print(heat.OTHER)", tmp_path, PYTHONPATH=path)
    assert done.stdout == "True\n"
    assert "No module named 'heat.engine'" in run(code, tmp_path, PYTHONPATH=path).stderr


def test_the_plugin_refuses_to_shadow_another_heat(tmp_path: Path) -> None:
    path = str(other_heat(tmp_path))
    code = """
from zonda.core.plugins.manager import make_manager
failures = []
make_manager(failures=failures)
print([str(each) for each in failures if each.plugin == 'heat-compat'])
"""
    said = run(code, tmp_path, PYTHONPATH=path).stdout
    assert "another distribution provides the package heat here" in said
    assert str(tmp_path / "heat" / "__init__.py") in said


def test_a_folder_that_is_no_package_owns_nothing(tmp_path: Path) -> None:
    (tmp_path / "heat").mkdir()
    done = run("import heat; print(heat.__zonda__)", tmp_path, PYTHONPATH=str(tmp_path))
    assert done.stdout == "True\n"


def test_what_is_not_provided_is_looked_for_in_the_folders_of_the_user(tmp_path: Path) -> None:
    module = tmp_path / "heat" / "engine" / "resources" / "acme.py"
    module.parent.mkdir(parents=True)
    module.write_text("from heat.engine import resource\nBASE = resource.Resource\n")
    (module.parent / "signal_responder.py").write_text("THEIRS = True\n")
    code = """
from heat.engine.resources import acme, signal_responder
from heat.engine import resource
print(acme.BASE is resource.Resource, hasattr(signal_responder, 'THEIRS'))
"""
    assert run(code, tmp_path, HEAT_COMPAT_PATH=str(tmp_path)).stdout == "True False\n"
    said = run(code, tmp_path).stderr
    assert "zonda-heat-compat does not provide heat.engine.resources.acme." in said
    assert "HEAT_COMPAT_PATH" in said


def test_a_plugin_can_do_without_what_is_not_provided(tmp_path: Path) -> None:
    code = """
try:
    from heat.engine import nothing
except ImportError:
    nothing = None
from heat.engine import resource, signal_responder
print(nothing, signal_responder.SignalResponder.__mro__[2] is resource.Resource)
"""
    assert run(code, tmp_path).stdout == "None True\n"


def test_the_names_of_libraries_until_2014(tmp_path: Path) -> None:
    pytest.importorskip("oslo_config")
    code = """
from oslo.config import cfg
import oslo.utils.timeutils
import oslo_config.cfg, oslo_utils.timeutils
print(cfg is oslo_config.cfg, oslo.utils.timeutils is oslo_utils.timeutils)
print(oslo_config.__spec__.name)
try:
    import oslo.nothing
except ImportError as error:
    print(error)
"""
    said = run(code, tmp_path)
    assert said.stdout == "True True\noslo_config\nNo module named 'oslo.nothing'\n", said.stderr


def test_the_package_knows_nothing_of_zonda_but_its_hooks() -> None:
    sources = Path(__file__).resolve().parents[1] / "src"
    found = set()
    for path in sources.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            found |= {name for name in names if name.split(".")[0] == "zonda"}
    assert found
    assert all(name.split(".")[1] == "hooks" for name in found)


@pytest.mark.parametrize(
    ("name", "advised"),
    [
        pytest.param("heat.engine.resources.nova_utils", False, id="2014"),
        pytest.param("heat.engine.watchrule", False, id="watchrule"),
        pytest.param("heat.openstack.common.rpc", False, id="incubator"),
        pytest.param("heat.engine.resources.server", False, id="server"),
        pytest.param("heat.engine.resources.server_base", True, id="server-of-today"),
        pytest.param("heat.engine.event", True, id="of-today"),
    ],
)
def test_only_what_heat_has_today_is_advised_to_be_fetched(
    tmp_path: Path, name: str, advised: bool
) -> None:
    said = run(f"import {name}", tmp_path).stderr
    assert f"does not provide {name}" in said
    assert ("openstack-heat" in said) is advised
    assert ("Heat of today has it no more" in said) is not advised


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("lockutils", "oslo_concurrency.lockutils"),
        ("processutils", "oslo_concurrency.processutils"),
        ("loopingcall", "oslo_service.loopingcall"),
        ("context", "oslo_context.context"),
        ("policy", "oslo_policy.policy"),
    ],
)
def test_libraries_that_were_a_part_of_heat(tmp_path: Path, name: str, library: str) -> None:
    package, _, module = library.partition(".")
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / package / f"{module}.py").write_text("MINE = True\n")
    code = f"from heat.openstack.common import {name}; print({name}.MINE)"
    assert run(code, tmp_path, PYTHONPATH=str(tmp_path)).stdout == "True\n"


def test_errors_by_another_name(tmp_path: Path) -> None:
    code = "from heat.openstack.common import exception; print(exception.NotFound.__module__)"
    assert run(code, tmp_path).stdout == "heat.common.exception\n"
