"""A plug-in that calls ``os._exit`` fails its call; its forked children end normally."""

from __future__ import annotations

from typing import Any

import pytest

PLUGIN = """
import os

from zonda.hooks import hookimpl, resource

class Ender(resource.Resource):
    def handle_create(self):
        {handle_create}
        self.resource_id_set("a")

    def check_create_complete(self, token):
        {check_create_complete}
        return True

@hookimpl
def zonda_resource_types():
    return {{"My::Ender": Ender}}
"""
TEMPLATE = """
heat_template_version: 2018-08-31
resources: {a: {type: My::Ender}, good: {type: "OS::Heat::TestResource"}}
"""


@pytest.mark.parametrize("call", ["handle_create", "check_create_complete"])
def test_a_call_that_ends_the_process_fails_and_the_others_go_on(
    call: str, zonda: Any, write: Any
) -> None:
    calls = {"handle_create": "pass", "check_create_complete": "pass", call: "os._exit(0)"}
    write("home/plugins/ender.py", PLUGIN.format(**calls))
    zonda("stack", "create", "s", "-t", write("t.yaml", TEMPLATE), code=1)
    rows = zonda("stack", "resource", "list", "s", "-f", "json").data
    states = {row["resource_name"]: row["resource_status"] for row in rows}
    assert states == {"a": "CREATE_FAILED", "good": "CREATE_COMPLETE"}
    assert "os._exit(0) would end the process" in zonda("stack", "why", "s").out


def test_a_child_that_a_plugin_has_forked_ends_with_its_own_status(zonda: Any, write: Any) -> None:
    fork = "assert os.waitpid(os.fork() or os._exit(7), 0)[1] == 7 << 8"
    write("home/plugins/ender.py", PLUGIN.format(handle_create=fork, check_create_complete="pass"))
    zonda("stack", "create", "s", "-t", write("t.yaml", TEMPLATE))
