"""The static files of the pages."""

from __future__ import annotations

import re

import pytest

from zonda.core.api.pages.static_files import FOLDER, answer_file, build_url, read_files
from zonda.hooks.errors import NotFound


@pytest.mark.parametrize("name", ["zonda.css", "zonda.js", "zonda.svg"])
def test_a_file_is_kept_for_long_under_the_url_with_its_digest(name: str) -> None:
    path, _, digest = build_url(name).partition("?v=")
    assert path == f"/ui/static/{name}"
    answer = answer_file(name, digest)
    assert answer.body == (FOLDER / name).read_text()
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("digest", [None, "", "0" * 16])
def test_another_digest_is_not_kept(digest: str | None) -> None:
    assert answer_file("zonda.css", digest).headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("name", ["", "..", "../templates/base.html", "nothing.css", "zonda"])
def test_no_other_file_is_served(name: str) -> None:
    with pytest.raises(NotFound):
        answer_file(name, None)


def test_static_files_fetch_nothing_from_elsewhere() -> None:
    for name, file in read_files().items():
        text = file.text.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|@import|url\(|\beval\b|new Function|innerHTML", text), name


def test_the_module_of_the_pages_stays_small() -> None:
    assert len(read_files()["zonda.js"].text.splitlines()) <= 300
