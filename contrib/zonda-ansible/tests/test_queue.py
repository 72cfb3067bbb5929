"""The turns of questions that wait: no host takes all places while others wait."""

from __future__ import annotations

from typing import Any

from zonda_ansible.agent.queue import Queue


def ask(number: int, host: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "variables": {"ansible_host": host, "ansible_user": "x"}, **more}


def take(queue: Queue, at_work: list[Any], count: int) -> list[int]:
    return [queue.take(at_work)["id"] for _ in range(count)]


def test_hosts_take_turns_and_each_has_its_questions_in_order() -> None:
    queue = Queue()
    for number, host in enumerate("aaabbc"):
        queue.put(ask(number, host))
    assert take(queue, [], 6) == [0, 3, 5, 1, 4, 2]
    assert not queue


def test_the_host_that_is_asked_least_is_next() -> None:
    queue = Queue()
    for number, host in enumerate("aabb"):
        queue.put(ask(number, host))
    slow = [ask(10, "a"), ask(11, "a"), ask(12, "b")]
    assert take(queue, slow, 4) == [2, 3, 0, 1]


def test_what_needs_no_host_has_turns_of_its_own() -> None:
    queue = Queue()
    queue.put(ask(1, "a"))
    queue.put({"id": 2, "module": "acme.tools.x", "file": "/x"})
    assert take(queue, [ask(3, "a")], 2) == [2, 1]
