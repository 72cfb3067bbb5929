"""What every test gets: a clean environment, a ZONDA_HOME of its own, one hypothesis profile."""

from __future__ import annotations

import gc
import itertools
import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.postgresql_loans import Loans, lend_databases
from tests.postgresql_server import PostgreSQL, run_server

ROOT = Path(__file__).resolve().parent.parent

#: Variables that speak to the tests, not to zonda.
FOR_TESTS = frozenset(
    {
        "ZONDA_CLI_TESTS",
        "ZONDA_CORPUS",
        "ZONDA_PGBOUNCER_TESTS",
        "ZONDA_PG_TESTS",
        "ZONDA_TEST_DATABASE",
        "ZONDA_TEST_PG",
    }
)

#: Whether every database of a test is on a server, where the test says nothing else.
ON_SERVER = os.environ.get("ZONDA_TEST_DATABASE") == "postgresql"

#: Changed by pytest itself while a test runs.
BY_PYTEST = frozenset({"PYTEST_CURRENT_TEST", "PYTEST_VERSION"})

#: The module with the longest test.
LONGEST = "tests/acceptance/test_overcloud.py"

_numbers = itertools.count()

settings.register_profile(
    "zonda",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("zonda")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest is begun first: no worker is left with it when all else is done.

    Tests that ask SQLite itself have no place in a run on a server.
    """
    if ON_SERVER:
        items[:] = [each for each in items if each.get_closest_marker("sqlite") is None]
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish() -> None:
    """Thousands of tests live to the end: nobody need look through them for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which tests have their ZONDA_HOME."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A PostgreSQL; skips the test where there is none."""
    with run_server() as server:
        yield server


@pytest.fixture(scope="session")
def loans(request: pytest.FixtureRequest) -> Iterator[Loans | None]:
    """With ZONDA_TEST_DATABASE=postgresql a database for each file that a test would make."""
    if not ON_SERVER:
        yield None
        return
    with lend_databases(request.getfixturevalue("postgresql")) as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def databases_of_module(loans: Loans | None) -> Iterator[None]:
    """Databases of what the tests of a module share."""
    with nullcontext() if loans is None else loans.hold():
        yield


@pytest.fixture(autouse=True)
def databases_of_test(environment: None, loans: Loans | None) -> Iterator[None]:
    """Databases of a test alone."""
    with nullcontext() if loans is None else loans.hold():
        yield


@pytest.fixture(autouse=True)
def environment(homes: Path) -> Iterator[None]:
    """No ``ZONDA_*`` variable from outside; a fresh ZONDA_HOME; nothing left behind by the test."""
    outside = dict(os.environ)
    for name in outside:
        if name.startswith("ZONDA_") and name not in FOR_TESTS:
            del os.environ[name]
    os.environ["ZONDA_HOME"] = str(homes / str(next(_numbers)))
    before = _seen()
    yield
    after = _seen()
    os.environ.clear()
    os.environ.update(outside)
    changed = {name for name, _ in before.items() ^ after.items()}
    assert not changed, f"the test left environment variables changed: {sorted(changed)}"


def _seen() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in BY_PYTEST}


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with templates that nobody here wrote; skips the test where it is absent."""
    folder = Path(os.environ.get("ZONDA_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not folder.is_dir():
        pytest.skip(f"no corpus of templates at {folder} (set ZONDA_CORPUS)")
    return folder
