"""One heap for all threads, where the C library knows how."""

import ctypes

import pytest

from zonda.core.system import memory


class Library:
    def __init__(self):
        self.asked = []

    def mallopt(self, option, value):
        self.asked.append((option, value))


def test_the_c_library_is_asked_for_one_heap(monkeypatch):
    library = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    memory.limit_malloc_arenas()
    assert library.asked == [(-8, 1)]


def another_library(name):
    return object()


def no_library(name):
    raise OSError("not found")


@pytest.mark.parametrize("found", [another_library, no_library])
def test_another_c_library_is_left_alone(monkeypatch, found):
    monkeypatch.setattr(ctypes, "CDLL", found)
    memory.limit_malloc_arenas()
