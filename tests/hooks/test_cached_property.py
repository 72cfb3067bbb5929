from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from zonda.hooks.cached_property import cached_property


class Thing:
    def __init__(self, compute: Any) -> None:
        self._compute = compute

    @cached_property
    def value(self) -> Any:
        """The value."""
        return self._compute()


def test_a_value_is_computed_once() -> None:
    values = iter(["one", "two"])
    thing = Thing(lambda: next(values))
    assert [thing.value, thing.value] == ["one", "one"]
    del thing.value
    assert thing.value == "two"


def test_what_is_set_is_kept() -> None:
    thing = Thing(lambda: "computed")
    thing.__dict__["value"] = "given"
    assert thing.value == "given"


def test_the_class_shows_the_property() -> None:
    assert Thing.value.__doc__ == "The value."


def test_instances_do_not_wait_for_each_other() -> None:
    """Each value is there only once both are being computed."""
    barrier = Barrier(2, timeout=60)
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(lambda: Thing(barrier.wait).value) for _ in range(2)]
        assert {each.result() for each in made} == {0, 1}
