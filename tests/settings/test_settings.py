"""Sources of settings, their precedence, and their faults."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from zonda.core.app.app import builtin_kinds
from zonda.core.settings import settings, table
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import UsageError
from zonda.workflows.mistral import settings as mistral_settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def write(home: Path, text: str) -> None:
    home.mkdir()
    (home / settings.FILE_NAME).write_text(text)


#: (name, lines below ``kind``, where, what)
MISTRAL = (
    ("no-endpoint", "", ":1", "endpoint is missing"),
    ("misspelt", 'endpoint = "http://m/"\ntokn = "t"', ":4", "did you mean token"),
    ("of-http", 'endpoint = "http://m/"\nwait = 1', ":4", "no setting of a mistral runner"),
    ("endpoint", 'endpoint = "m:8989"', ":3", "begins with http://"),
    ("auth", 'endpoint = "http://m/"\nauth = "basic"', ":4", "none, token, keystone"),
    ("no-token", 'endpoint = "http://m/"\nauth = "token"', ":4", "there is no token"),
    ("no-password", 'endpoint = "http://m/"\nauth_url = "http://k/"\nusername = "u"',
     ":4", "password, project_name or project_id are missing"),
    ("no-url", 'endpoint = "http://m/"\nauth = "keystone"\nusername = "u"\npassword = "p"\n'
     'project_id = "1"', ":4", "auth_url is missing"),
    ("forget", 'endpoint = "http://m/"\nforget = "yes"', ":4", "must be true or false"),
    ("namespace", 'endpoint = "http://m/"\nnamespace = 3', ":4", "must be text"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("file", "variable", "flag", "workers"),
    [
        pytest.param(None, None, None, 64, id="default"),
        pytest.param("3", None, None, 3, id="file"),
        pytest.param("3", "4", None, 4, id="variable-beats-file"),
        pytest.param("3", "4", "5", 5, id="flag-beats-variable"),
        pytest.param(None, "", None, 64, id="empty-variable-is-no-variable"),
    ],
)
def test_the_later_layer_wins(
    home: Path, file: str | None, variable: str | None, flag: str | None, workers: int
) -> None:
    if file is not None:
        write(home, f"workers = {file}\n")
    environ = {"ZONDA_HOME": str(home)}
    if variable is not None:
        environ["ZONDA_WORKERS"] = variable
    flags = {} if flag is None else {"workers": flag}

    assert settings.load_settings(flags, environ).workers == workers


@pytest.mark.parametrize(
    ("flags", "environ", "home"),
    [
        pytest.param({}, {"XDG_DATA_HOME": "/d"}, Path("/d/zonda"), id="xdg"),
        pytest.param(
            {},
            {"XDG_DATA_HOME": "relative"},
            Path.home() / ".local/share/zonda",
            id="a-relative-xdg-path-is-ignored",
        ),
        pytest.param({}, {}, Path.home() / ".local/share/zonda", id="no-variable-at-all"),
        pytest.param(
            {}, {"ZONDA_HOME": "/z", "XDG_DATA_HOME": "/d"}, Path("/z"), id="own-variable"
        ),
        pytest.param({"home": "/f"}, {"ZONDA_HOME": "/z"}, Path("/f"), id="flag"),
    ],
)
def test_the_home_is_found(flags: dict[str, str], environ: dict[str, str], home: Path) -> None:
    assert settings.load_settings(flags, environ).home == home


def test_what_lies_in_the_home_follows_it() -> None:
    loaded = settings.load_settings({"home": "/h"}, {})

    assert loaded.database_url == "sqlite:////h/zonda.db"
    assert loaded.plugin_dirs == ("/h/plugins",)
    assert loaded.runner_file == Path("/h/runner.json")


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        pytest.param('a = 1\nworkers = "many"', ":2", "whole number", id="wrong-type"),
        pytest.param("\n\nwokers = 3", ":3", "did you mean workers", id="misspelt"),
        pytest.param("workers = 0", ":1", "at least 1", id="too-small"),
        pytest.param("workers = 2000", ":1", "at most 1000", id="too-large"),
        pytest.param("workers = true", ":1", "whole number", id="boolean-is-no-number"),
        pytest.param('synchronous = "OFF"', ":1", "NORMAL, FULL", id="not-a-choice"),
        pytest.param("stop_grace = nan", ":1", "number", id="nan"),
        pytest.param("x = 1\nworkers = = 2", ":2:", "not valid TOML", id="syntax"),
        pytest.param("home = '/x'", ":1", "cannot be set here", id="home"),
        pytest.param("workers=1\n\n[runners]\nlab = 3", ":3", "[runners.NAME]", id="no-section"),
        pytest.param("[runners.http]\nx = 3", ":1", "name of a runner", id="scheme-as-name"),
        pytest.param("plugin_dirs = [1]", ":1", "list of folders", id="no-folders"),
        pytest.param('\nplugin_dirs = "/x"', ":2", "list of folders", id="one-folder-is-no-list"),
        pytest.param('service_address = "8155"', ":1", "HOST:PORT", id="address"),
        pytest.param("stack_timeout_mins = 525601", ":1", "at most 525600", id="over-a-year"),
        pytest.param(f"stop_grace = 1{'0' * 400}", ":1", "must be a number", id="huge"),
        pytest.param(
            'default_runner = "lab"', ":1", "neither bundled", id="runner-without-section"
        ),
        pytest.param('default_runner = "ftp://x/"', ":1", "http(s) URL", id="runner-of-a-scheme"),
        pytest.param('x=1\n[runners.lab]\ntoken = "t"', ":2", "endpoint is missing", id="endpoint"),
        pytest.param('[runners.lab]\n\nendpoint = "ftp://x/"', ":3", "http://", id="ftp"),
        pytest.param("[runners.lab]\nendpoint = 3", ":2", "endpoint must be text", id="no-text"),
        pytest.param(
            '[runners.lab]\nendpoint = "http://u:p@x/"', ":2", "no credentials", id="credentials"
        ),
        pytest.param(
            '[runners.a]\nendpoint = "http://a/"\n[runners.lab]\nendpoint = "http://x/"\n'
            'tokn = "t"',
            ":5",
            "did you mean token",
            id="misspelt-entry",
        ),
        pytest.param(
            '[runners.lab]\nendpoint = "http://x/"\nwait = "1"', ":3", "must be a number", id="wait"
        ),
        pytest.param("[runners.lab]\nkind = 3", ":2", "kind must be text", id="kind"),
        *(
            pytest.param(
                f'[runners.m]\nkind = "mistral"\n{text}', where, what, id=f"mistral-{name}"
            )
            for name, text, where, what in MISTRAL
        ),
        pytest.param("[sinks]\nx = 3", ":1", "[sinks.NAME]", id="no-sink-section"),
        pytest.param("[sinks.x]\nevents = []", ":1", "kind is missing", id="sink-of-no-kind"),
        pytest.param(
            '[sinks.x]\nkind = "webhook"', ":1", "url is missing", id="webhook-to-nowhere"
        ),
        pytest.param(
            '[sinks.x]\nkind = "log"\nfil = "a"', ":3", "did you mean file", id="misspelt-in-sink"
        ),
        pytest.param(
            '[sinks.x]\nkind = "log"\nevents = "DRIFT"', ":3", "must be a list", id="one-event"
        ),
        pytest.param(
            '[sinks.x]\nkind = "log"\nevents = ["DRIFT", "CREATE_FALED"]',
            ":3",
            "did you mean CREATE_FAILED",
            id="event-of-nothing",
        ),
        pytest.param(
            '[sinks.x]\nkind = "log"\nevents = ["NO*"]', ":3", "is of no event", id="no-event"
        ),
        pytest.param(
            '[sinks.x]\nkind = "log"\nscope = "some"', ":3", "all, stacks", id="sink-scope"
        ),
    ],
)
def test_a_fault_in_the_file_names_the_line(home: Path, text: str, where: str, what: str) -> None:
    write(home, text)

    with pytest.raises(UsageError) as caught:
        settings.load_settings({}, {"ZONDA_HOME": str(home)}, builtin_kinds)

    lines = [line for line in str(caught.value).splitlines() if what in line]
    assert lines
    assert lines[0].startswith(f"{home / settings.FILE_NAME}{where}")


def test_all_faults_are_shown_at_once(home: Path) -> None:
    write(home, "workers = 0\nbogus = 1\n")

    with pytest.raises(UsageError) as caught:
        settings.load_settings(
            {"yaql_memory": "x"}, {"ZONDA_HOME": str(home), "ZONDA_SYNCHRONOUS": "y"}
        )

    assert len(str(caught.value).splitlines()) == 4


def test_an_unreadable_file_is_a_clean_error(home: Path) -> None:
    (home / settings.FILE_NAME).mkdir(parents=True)

    with pytest.raises(UsageError, match=r"zonda\.toml: cannot be read: Is a directory$"):
        settings.load_settings({}, {"ZONDA_HOME": str(home)}, builtin_kinds)


def test_a_file_in_another_encoding_is_a_clean_error(home: Path) -> None:
    home.mkdir(parents=True)
    (home / settings.FILE_NAME).write_bytes("workers = 4\n".encode("utf-16"))

    with pytest.raises(UsageError, match=r"zonda\.toml: is not text in UTF-8 \(byte 0\)$"):
        settings.load_settings({}, {"ZONDA_HOME": str(home)}, builtin_kinds)


def test_runner_sections_are_kept(home: Path) -> None:
    write(home, '[runners.lab]\nkind = "http"\nendpoint = "http://lab/"\ntoken = "s3cret"\n')

    loaded = settings.load_settings({}, {"ZONDA_HOME": str(home)}, builtin_kinds)

    assert loaded.runners["lab"]["endpoint"] == "http://lab/"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param('token = {env = "T"}', id="token"),
        pytest.param('auth = "token"\ntoken = {file = "t"}\nforget = true', id="told-token"),
        pytest.param('auth = "none"\nauth_url = "http://k/"', id="told-none"),
        pytest.param(
            'auth_url = "http://k/"\nusername = "u"\npassword = {env = "P"}\nproject_id = "1"',
            id="keystone",
        ),
        pytest.param(
            'auth_url = "http://k/"\nusername = "u"\npassword = "p"\nproject_name = "a"\n'
            'token = "t"\nmax_in_flight = 3',
            id="keystone-beside-a-token",
        ),
    ],
)
def test_a_section_of_a_mistral_that_is_good(home: Path, text: str) -> None:
    write(home, f'[runners.m]\nkind = "mistral"\nendpoint = "http://m/v2"\n{text}\n')
    given = dict(settings.load_settings({}, {"ZONDA_HOME": str(home)}, builtin_kinds).runners["m"])
    named = {name: "a-secret" for name, raw in given.items() if isinstance(raw, dict)}
    del given["kind"]
    made = {"clock": SystemClock(), "random": random.Random(0), **given, **named}
    assert mistral_settings.read_settings(made).http.endpoint


def test_a_kind_of_a_plug_in_is_not_judged(home: Path) -> None:
    write(home, 'default_runner = "lab"\n[runners.lab]\nkind = "ssh"\nhost = 3\n')

    assert (
        settings.load_settings({}, {"ZONDA_HOME": str(home)}, builtin_kinds).runners["lab"]["host"]
        == 3
    )


def test_faults_of_runners_name_no_value(home: Path) -> None:
    write(home, '[runners.lab]\nendpoint = "http://u:s3cret@x/"\ntoken = ["s3cret"]\n')

    with pytest.raises(UsageError) as caught:
        settings.load_settings({}, {"ZONDA_HOME": str(home)}, builtin_kinds)

    assert len(str(caught.value).splitlines()) == 2
    assert "s3cret" not in str(caught.value)


def test_an_address_in_a_variable_is_checked() -> None:
    environ = {"ZONDA_HOME": "/h", "ZONDA_SERVICE_ADDRESS": "x", "ZONDA_DEFAULT_RUNNER": "lab"}
    with pytest.raises(UsageError) as caught:
        settings.load_settings({}, environ)

    lines = str(caught.value).splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "ZONDA_SERVICE_ADDRESS",
        "ZONDA_DEFAULT_RUNNER",
    ]


def test_secrets_are_not_in_the_repr() -> None:
    shown = repr(table.Settings(key="s3cret", runners={"lab": {"token": "t0ken"}}))

    assert "s3cret" not in shown
    assert "t0ken" not in shown


def test_folders_in_a_variable_are_separated_as_in_path() -> None:
    environ = {"ZONDA_PLUGIN_DIRS": f"/a{os.pathsep}/b"}

    assert settings.load_settings({"home": "/h"}, environ).plugin_dirs == ("/a", "/b")


def test_the_process_environment_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZONDA_PROJECT", "lab")

    assert settings.load_settings().project == "lab"
    monkeypatch.undo()


def test_the_docs_table_has_one_row_per_setting() -> None:
    rows = settings.format_markdown_table().splitlines()[2:]

    assert [row.split("`")[1] for row in rows] == list(table.Settings.__dataclass_fields__)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param(f"workers = {'9' * 5000}", "thousands of digits", id="digits"),
        pytest.param(f"a = {'[' * 3000}{']' * 3000}", "nested too deep", id="depth"),
        pytest.param(f"workers = 0x{'f' * 5000}", "at most 18 digits", id="hexadecimal"),
        pytest.param(f"stop_grace = {'9' * 400}", "at most 18 digits", id="400-digits"),
        pytest.param("stop_grace = inf", "must be a number", id="infinity"),
        pytest.param(
            f"[runners.a]\nkind = 'http'\nendpoint = 'http://a'\nwait = {'9' * 400}",
            "wait must be a number",
            id="runner",
        ),
    ],
)
def test_a_number_or_a_depth_beyond_all_bounds_is_a_fault(home: Path, text: str, what: str) -> None:
    write(home, text)
    with pytest.raises(UsageError, match=what) as caught:
        settings.load_settings({}, {"ZONDA_HOME": str(home)}, builtin_kinds)
    assert len(str(caught.value)) < 300
