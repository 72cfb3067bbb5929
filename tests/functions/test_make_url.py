"""make_url: parts, escapes, and what is refused when."""

import pytest

from zonda.hooks.errors import TemplateError


@pytest.mark.parametrize(
    ("parts", "url"),
    [
        ({}, ""),
        ({"host": "h"}, "//h"),
        ({"scheme": "http", "host": "h", "path": "a/b c"}, "http://h/a/b%20c"),
        ({"scheme": "http", "host": "fd00::1", "port": "80"}, "http://[fd00::1]:80"),
        ({"scheme": "http", "host": "[fd00::1]"}, "http://[fd00::1]"),
        ({"scheme": "http", "username": "u@", "password": "p/", "host": "h"}, "http://u%40:p%2F@h"),
        ({"scheme": "http", "username": "u", "host": "h"}, "http://u@h"),
        (
            {"host": "h", "query": {"a b": [1], "c": None, "d": "x/y"}},
            "//h?a+b=%5B1%5D&c=None&d=x/y",
        ),
        ({"host": "h", "fragment": "a b"}, "//h#a%20b"),
        ({"scheme": "mailto", "path": "a@b"}, "mailto:a%40b"),
        ({"host": "h", "port": True}, "//h:True"),
    ],
)
def test_a_url_is_made_from_its_parts(evaluate, parts, url):
    assert evaluate({"make_url": parts}) == url


@pytest.mark.parametrize(
    ("parts", "kind", "message"),
    [
        ([], TypeError, "must be a map"),
        ({"foo": 1}, ValueError, 'Invalid arguments to "make_url": foo'),
        ({"host": 5}, TypeError, 'The "host" argument to "make_url" must be a string'),
        ({"query": "a=b"}, TypeError, 'The "query" argument to "make_url" must be a map'),
        ({"port": 0}, ValueError, "Invalid URL port 0, must be in range 1-65535"),
        (
            {"port": "x"},
            ValueError,
            "Invalid URL port \"x\" for make_url called with {'port': 'x'}",
        ),
        ({"port": None}, TypeError, "must be a number"),
        ({"port": float("inf")}, ValueError, "Invalid URL port"),
        ({"scheme": "http:"}, ValueError, "should not contain ':'"),
        ({"host": "h", "query": {}, "fragment": 5}, TypeError, "expected"),
    ],
)
def test_wrong_parts_are_refused(evaluate, parts, kind, message):
    with pytest.raises(kind, match=message):
        evaluate({"make_url": parts})


def test_a_part_from_a_function_is_checked_once_it_is_known(parse):
    call, scope = parse({"make_url": {"host": {"get_param": "n"}}}, parameters={"n": 5})
    with pytest.raises(TypeError, match="must be a string"):
        call.resolve(scope)


@pytest.mark.parametrize("password", ["open sesame", {"get_param": "secret"}])
def test_errors_never_tell_a_password(evaluate, password):
    parts = {"port": {"get_param": "port"}, "password": password, "query": {"k": password}}
    if isinstance(password, str):
        del parts["query"]
    with pytest.raises((ValueError, TemplateError)) as caught:
        evaluate({"make_url": parts}, parameters={"port": "x", "secret": "open sesame"})
    assert "sesame" not in str(caught.value)
