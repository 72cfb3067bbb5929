"""References to secrets: where they are read, and refused ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zonda.core.settings.secret_references import check_reference, list_own_files, resolve_reference
from zonda.core.settings.settings import load_settings
from zonda.core.settings.table import Settings
from zonda.hooks.errors import UsageError

ALL = "env:*,file:*"


def test_a_variable_and_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_TOKEN", "one")
    (tmp_path / "token").write_text(" two \n\n")
    assert resolve_reference("env:THE_TOKEN", tmp_path, ALL) == "one"
    assert resolve_reference("file:token", tmp_path, ALL) == " two"
    assert resolve_reference(f"file:{tmp_path / 'token'}", Path("/nowhere"), ALL) == " two"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("env:NO_SUCH_VARIABLE", "is not set"),
        ("file:nothing", "cannot be read"),
        ("file:.", "cannot be read"),
        ("file:large", "too large"),
        ("file:odd", "not UTF-8"),
        ("evn:X", "env"),
        ("TOKEN", "names no secret"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, reference: str, said: str) -> None:
    (tmp_path / "large").write_text("x" * 70_000)
    (tmp_path / "odd").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError) as found:
        resolve_reference(reference, tmp_path, "*")
    assert said in f"{found.value} {found.value.hint}"


@pytest.mark.parametrize("allowed", ["", "env:ZONDA_SECRET_*", "file:*"])
def test_what_is_not_allowed_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: str
) -> None:
    monkeypatch.setenv("OTHER", "hushhush")
    with pytest.raises(UsageError, match="may not be read") as found:
        resolve_reference("env:OTHER", tmp_path, allowed)
    assert "secret_sources" in str(found.value)


DEFAULT = Settings().secret_sources


@pytest.mark.parametrize(
    "reference",
    [
        "env:AWS_SECRET_ACCESS_KEY",
        "env:HOME",
        "env:ZONDA_SECRET_SOURCES",
        "file:zonda.toml",
        "file:token",
        "file:~/.ssh/id_ed25519",
        "file:/etc/shadow",
        "file:secrets/../token",
    ],
)
def test_by_default_no_template_reads_what_was_not_meant_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    (tmp_path / "token").write_text("hushhush")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hushhush")
    monkeypatch.setenv("ZONDA_SECRET_SOURCES", DEFAULT)
    with pytest.raises(UsageError) as found:
        resolve_reference(reference, tmp_path, DEFAULT)
    assert "hushhush" not in f"{found.value} {found.value.hint}"


def test_by_default_what_is_named_for_templates_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZONDA_SECRET_TOKEN", "one")
    (tmp_path / "secrets" / "team").mkdir(parents=True)
    (tmp_path / "secrets" / "disk").write_text("two")
    (tmp_path / "secrets" / "team" / "disk").write_text("three")
    named = ("env:ZONDA_SECRET_TOKEN", "file:secrets/disk", "file:secrets/team/disk")
    assert [resolve_reference(each, tmp_path, DEFAULT) for each in named] == ["one", "two", "three"]


@pytest.mark.parametrize("reference", ["env:TOKEN", "file:keys/token", "file:../beside"])
def test_the_refusal_says_what_to_write_and_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    home = tmp_path / "home"
    (home / "keys").mkdir(parents=True)
    for file in (home / "keys" / "token", tmp_path / "beside"):
        file.write_text("one")
    monkeypatch.setenv("TOKEN", "one")
    with pytest.raises(UsageError) as refused:
        resolve_reference(reference, home, DEFAULT)
    told = re.search(r'secret_sources = "([^"]*)"', refused.value.hint)
    assert told is not None
    assert str(home / "zonda.toml") in refused.value.hint
    assert "ZONDA_SECRET_SOURCES" in refused.value.hint
    assert "secret_sources" in str(refused.value), "events and verdicts have no hint"
    assert resolve_reference(reference, home, told[1]) == "one"


@pytest.mark.parametrize("reference", ["env:*", "env:A,env:*", "file:**", 'file:a"b'])
def test_the_refusal_never_tells_to_allow_more_than_was_asked(
    tmp_path: Path, reference: str
) -> None:
    with pytest.raises(UsageError) as refused:
        resolve_reference(reference, tmp_path, DEFAULT)
    assert "is to be added" not in str(refused.value)
    assert not refused.value.hint
    assert "secret_sources" in str(refused.value)


@pytest.mark.parametrize("variable", ["ZONDA_KEY", "ZONDA_DATABASE_URL", "ZONDA_SECRET_SOURCES"])
def test_a_variable_that_is_a_setting_is_zondas_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "hushhush")
    with pytest.raises(UsageError, match="zonda's own"):
        resolve_reference(f"env:{variable}", tmp_path, "*")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("env:ZONDA_SECRET_THAT_IS_SET_ELSEWHERE", ""),
        ("file:secrets/not-there-yet", ""),
        ("env:OTHER", "may not be read"),
        ("file:other", "may not be read"),
        ("env:ZONDA_KEY", "zonda's own"),
        ("TOKEN", "names no secret"),
    ],
)
def test_whether_it_may_be_named_is_told_without_reading_it(
    tmp_path: Path, reference: str, said: str
) -> None:
    if not said:
        check_reference(reference, tmp_path, DEFAULT)
        return
    with pytest.raises(UsageError, match=said):
        check_reference(reference, tmp_path, DEFAULT if "TOKEN" not in reference else "*")


def test_what_is_allowed_by_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZONDA_SECRET_A", "one")
    assert resolve_reference("env:ZONDA_SECRET_A", tmp_path, "file:x, env:ZONDA_SECRET_*") == "one"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "ho[m]e"
    (made / "secrets" / "deep").mkdir(parents=True)
    for name in ("secrets/disk", "secrets/deep/er", "key"):
        (made / name).write_text(name)
    (tmp_path / "outside").write_text("outside")
    (made / "secrets" / "link").symlink_to(made / "key")
    return made


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("secrets/disk", "file:secrets/*"),
        ("secrets/../secrets/disk", "file:secrets/*"),
        ("secrets/deep/er", "file:secrets/**"),
        ("secrets/disk", "env:*, file:secrets/**"),
        ("key", "file:*"),
        ("../outside", "file:*"),
        ("key", "*"),
    ],
)
def test_a_file_that_a_pattern_covers(home: Path, name: str, allowed: str) -> None:
    assert resolve_reference(f"file:{name}", home, allowed) == (home / name).read_text()


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("key", "file:secrets/*"),
        ("secrets/../key", "file:secrets/*"),
        ("secrets/../../outside", "file:secrets/**"),
        ("secrets/link", "file:secrets/*"),
        ("secrets/deep/er", "file:secrets/*"),
        ("secrets/disk", "env:*"),
        ("secrets/disk", "file:"),
        ("/etc/passwd", "file:secrets/*"),
        ("secrets", "file:secrets/**"),
    ],
)
def test_a_way_that_leads_out_of_what_is_allowed(home: Path, name: str, allowed: str) -> None:
    with pytest.raises(UsageError, match="may not be read"):
        resolve_reference(f"file:{name}", home, allowed)


def test_a_name_that_is_no_path(home: Path) -> None:
    (home / "round").symlink_to(home / "round")
    for name in ("a\0b", "~nobody-of-that-name/x", "round"):
        with pytest.raises(UsageError, match="cannot be read"):
            resolve_reference(f"file:{name}", home, "file:*")


@pytest.fixture
def mounted(home: Path) -> Path:
    """A folder with a secret as Kubernetes mounts it."""
    folder = home / "mounted"
    (folder / "..2026_11").mkdir(parents=True)
    (folder / "..2026_11" / "token").write_text("T")
    (folder / "..data").symlink_to("..2026_11")
    (folder / "token").symlink_to("..data/token")
    (folder / "other").symlink_to("..data/token")
    (home / "run").symlink_to(folder)
    return folder


@pytest.mark.parametrize("folder", ["mounted", "run"])
@pytest.mark.parametrize("pattern", ["token", "*", "**", "t*"])
def test_a_secret_that_kubernetes_mounts(mounted: Path, folder: str, pattern: str) -> None:
    allowed = f"file:{folder}/{pattern}"
    assert resolve_reference(f"file:{folder}/token", mounted.parent, allowed) == "T"
    absolute = f"file:{mounted.parent / folder / 'token'}"
    assert resolve_reference(absolute, mounted.parent, allowed) == "T"


@pytest.mark.parametrize("pattern", ["*", "o*"])
def test_a_link_to_a_file_of_another_name_is_not_covered(mounted: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match="may not be read"):
        resolve_reference("file:mounted/other", mounted.parent, f"file:mounted/{pattern}")


@pytest.mark.parametrize("allowed", ["*", "env:*,file:*", "env:*,file:**"])
@pytest.mark.parametrize(
    "name",
    [
        *(
            "zonda.toml",
            "zonda.key",
            "zonda.db",
            "zonda.db-wal",
            "zonda.db-shm",
            "zonda.db-journal",
        ),
        *("runner.json", "runner/runs/x", "seal"),
    ],
)
def test_what_is_zondas_own_is_no_secret(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, allowed: str
) -> None:
    flags = {"home": str(home), **({"key_file": str(home / "seal")} if name == "seal" else {})}
    found = load_settings(flags, {})
    file = home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("hushhush")
    with pytest.raises(UsageError, match="zonda's own") as told:
        resolve_reference(f"file:{name}", home, allowed, list_own_files(found))
    assert "hushhush" not in str(told.value)
    monkeypatch.setenv("ZONDA_KEY", "hushhush")
    with pytest.raises(UsageError, match="zonda's own"):
        resolve_reference("env:ZONDA_KEY", home, "*")


@pytest.mark.parametrize("name", ["other.db", "other.db-wal", "other.db?x=1", "other.db?x=1-wal"])
def test_a_database_is_zondas_own_with_and_without_what_its_url_asks_for(
    home: Path, name: str
) -> None:
    found = load_settings(
        {"home": str(home), "database_url": f"sqlite:///{home / 'other.db'}?x=1"}, {}
    )
    (home / name).write_text("hushhush")
    with pytest.raises(UsageError, match="zonda's own"):
        resolve_reference(f"file:{name}", home, "*", list_own_files(found))


@pytest.mark.parametrize("allowed", ["*", "file:*", "file:/proc/**,file:/sys/**,file:/dev/**"])
@pytest.mark.parametrize(
    "name", ["/proc/self/environ", "/proc/1/cmdline", "/sys/kernel/x", "/dev/zero", "around"]
)
def test_what_the_machine_tells_of_its_processes_is_no_secret(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, allowed: str
) -> None:
    monkeypatch.setenv("ZONDA_KEY", "hushhush")
    (home / "around").symlink_to("/proc/self/environ")
    with pytest.raises(UsageError, match="no file that holds a secret") as told:
        resolve_reference(f"file:{name}", home, allowed)
    assert "hushhush" not in f"{told.value} {told.value.hint}"


def test_a_file_in_shared_memory_may_be_a_secret(home: Path) -> None:
    check_reference("file:/dev/shm/token", home, "file:/dev/shm/*")


@pytest.mark.parametrize("reference", ["env:TOKEN", "file:keys/token"])
def test_where_the_variable_is_set_the_refusal_names_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    monkeypatch.setenv("ZONDA_SECRET_SOURCES", DEFAULT)
    with pytest.raises(UsageError) as refused:
        resolve_reference(reference, tmp_path, DEFAULT)
    hint = refused.value.hint
    assert f'ZONDA_SECRET_SOURCES="{DEFAULT},{reference}"' in hint
    assert str(tmp_path / "zonda.toml") not in hint, "the variable counts before the file"
    check_reference(reference, tmp_path, f"{DEFAULT},{reference}")
