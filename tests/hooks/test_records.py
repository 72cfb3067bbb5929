import copy
import dataclasses
import inspect
import pickle
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from zonda.hooks import records
from zonda.hooks.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list, compare=False)
    secret: str = field(default="s", repr=False, kw_only=True)
    known: ClassVar[int] = 7


@dataclass(frozen=True, slots=True)
class Place(Point):
    name: str = "here"

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x")


@dataclass(slots=True)
class Counter:
    count: int = 0
    seen: dict[str, int] = field(default_factory=dict, init=False)
    kind: str = field(default="plain", init=False)


@dataclass(frozen=True)
class Loose:
    value: Any = None


@dataclass(eq=False, slots=True)
class Node:
    left: Any = None


def test_fields_are_given_by_position_and_by_name() -> None:
    point = Point(1, tags=["a"])
    assert (point.x, point.y, point.tags, point.secret, Point.known) == (1, 2, ["a"], "s", 7)
    assert (Place(1, 3, [], "there").name, Place(1, name="n").name) == ("there", "n")
    assert Point(1).tags is not Point(1).tags


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((), {}), ((1, 2, [], "s"), {}), ((1,), {"z": 1}), ((1, 2), {"y": 2})],
)
def test_wrong_arguments_are_an_error_that_names_the_class(
    arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\)"):
        Point(*arguments, **named)


def test_a_field_without_init_is_no_argument() -> None:
    counter = Counter(3)
    assert (counter.count, counter.seen, counter.kind) == (3, {}, "plain")
    with pytest.raises(TypeError):
        Counter(seen={})  # type: ignore[call-arg]


def test_a_constructor_has_the_signature_of_its_fields() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        x: int
        y: int = 2

    assert list(inspect.signature(Fresh).parameters) == ["x", "y"]


def test_post_init_is_called() -> None:
    with pytest.raises(ValueError, match="x"):
        Place(-1)


def test_equality_is_that_of_class_and_compared_fields() -> None:
    assert Point(1, tags=["a"]) == Point(1, tags=["b"])
    assert hash(Point(1, tags=["a"])) == hash(Point(1))
    assert Point(1) != Point(2)
    assert Point(1) != Place(1)
    assert Point(1) != 1
    assert Counter(1) == Counter(1)
    assert Node(1) != Node(1)
    assert len({Node(1), Node(1)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter())


def test_hidden_fields_are_not_shown() -> None:
    assert repr(Place(1)) == "Place(x=1, y=2, tags=[], name='here')"
    assert repr(Loose()) == "Loose(value=None)"


@pytest.mark.parametrize("record", [Point(1), Place(1), Loose(1)])
def test_what_is_frozen_cannot_be_changed(record: Any) -> None:
    for change in (lambda: setattr(record, "x", 2), lambda: delattr(record, "x")):
        with pytest.raises(AttributeError, match="frozen"):
            change()


def test_slots_take_no_other_attribute() -> None:
    assert not hasattr(Place(1), "__dict__")
    with pytest.raises(AttributeError):
        Counter().other = 1  # type: ignore[attr-defined]


def test_methods_of_the_class_are_kept() -> None:
    @dataclass(frozen=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Own(1)), Own(1) == Own(2), hash(Own(1))) == ("own", True, 5)


def test_a_default_that_can_change_is_refused() -> None:
    with pytest.raises(ValueError, match="use default_factory"):

        @dataclass
        class Wrong:
            x: list[int] = []  # noqa: RUF012


def test_records_match_patterns() -> None:
    match Place(1):
        case Place(x, y, _, name):
            assert (x, y, name) == (1, 2, "here")


@pytest.mark.parametrize("record", [Place(1, tags=["a"]), Counter(2), Loose([1])])
def test_records_are_copied_and_pickled(record: Any) -> None:
    assert copy.copy(record) == copy.deepcopy(record) == record
    assert pickle.loads(pickle.dumps(record)) == record


if TYPE_CHECKING:
    WAYS: list[Any] = []
else:
    WAYS = [dataclasses, records]


@pytest.mark.parametrize("way", WAYS)
def test_python_s_own_functions_know_records(way: Any) -> None:
    place = way.replace(Place(1, secret="t"), y=5)
    assert (place.x, place.y, place.secret) == (1, 5, "t")
    assert [each.name for each in way.fields(Place)] == ["x", "y", "tags", "secret", "name"]
    assert way.asdict(Loose([Point(1), {"a": (Counter(),)}])) == {
        "value": [
            {"x": 1, "y": 2, "tags": [], "secret": "s"},
            {"a": ({"count": 0, "seen": {}, "kind": "plain"},)},
        ]
    }
    assert dataclasses.is_dataclass(place)
    with pytest.raises(TypeError):
        way.replace(place, z=1)
