"""Types declared as text: those of packages, and faults of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from zonda.core.app import type_files
from zonda.core.app.type_files import add_files, add_packages
from zonda.core.plugins.manager import Plugins, gather_plugins, make_manager
from zonda.hooks import hookimpl
from zonda.hooks.declared_types import TypeDocument, TypeText
from zonda.hooks.resources.resource import Resource


class Readers:
    """Reads texts with ``thing`` at their top: a name."""

    @hookimpl
    def zonda_type_readers(self) -> Mapping[str, Any]:
        """One key."""
        return {"thing": self.read}

    @staticmethod
    def read(document: TypeDocument) -> type[Resource]:
        """A type of that name."""
        made = TypeText("thing", document.data["thing"], document.file, document.text)
        return type("Thing", (Resource,), {"declared_by": made})


class Package:
    """A package that brings one."""

    def __init__(self, text: str) -> None:
        self._text = text

    @hookimpl
    def zonda_type_texts(self) -> Sequence[tuple[str, str]]:
        """One text."""
        return [("thing.yaml", self._text)]


class Broken:
    """A package that cannot tell."""

    @hookimpl
    def zonda_type_texts(self) -> Sequence[tuple[str, str]]:
        """Fails."""
        raise OSError("no such file")


def gathered(*plugins: object) -> Plugins:
    """What they bring, with the types in texts."""
    found = gather_plugins(make_manager(*plugins, discover=False))
    add_packages(found)
    return found


def test_a_package_brings_types_as_texts() -> None:
    found = gathered(Readers(), Package("thing: Acme::Lamp\n"))
    assert found.failures == []
    made = found.resource_types["Acme::Lamp"].declared_by
    assert made is not None
    assert (made.file, made.class_type) == ("thing.yaml", "thing:Acme::Lamp")


@pytest.mark.parametrize(
    ("package", "said"),
    [
        (Package("other: 1\n"), "thing.yaml declares no type"),
        (Package("thing: [\n"), "thing.yaml:2:1"),
        (Broken(), "no such file"),
    ],
    ids=["another text", "no YAML", "fails"],
)
def test_what_is_wrong_with_a_package_is_told_and_hurts_nothing_else(
    package: object, said: str
) -> None:
    found = gathered(Readers(), package, Package("thing: Acme::Lamp\n"))
    assert said in " ".join(map(str, found.failures))
    assert "Acme::Lamp" in found.resource_types


def test_only_files_with_the_key_are_read(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "lamp.yaml").write_text("thing: Acme::Lamp\n")
    (tmp_path / "other.yaml").write_text("a: [\n")
    (tmp_path / "said.yaml").write_text("a: thing\n")
    (tmp_path / ".hidden.yaml").write_text("thing: Acme::Hidden\n")
    found = gathered(Readers())
    add_files(found, type_files.list_yaml_files([tmp_path, tmp_path / "nowhere"]))
    assert list(found.resource_types) == ["Acme::Lamp"]
    assert found.failures == []


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").symlink_to(tmp_path / "gone.yaml")
    found = gathered(Readers())
    add_files(found, type_files.list_yaml_files([tmp_path]))
    assert "cannot be read" in str(found.failures[0])
