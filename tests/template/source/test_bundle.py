"""Display names of the documents of a bundle."""

import pytest

from zonda.core.template.source.bundle import to_display_name


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("inner.yaml", "inner.yaml"),
        ("http://host/inner.yaml?x#y", "http://host/inner.yaml?x#y"),
        ("file:///a/b%20c.yaml", "/a/b c.yaml"),
        ("file:///a.yaml?x#y", "/a.yaml"),
        ("file://host/a.yaml", "/a.yaml"),
        ("file://[::1/a.yaml", "/a.yaml"),
    ],
)
def test_a_file_url_is_shown_as_its_path(file: str, name: str) -> None:
    assert to_display_name(file) == name
