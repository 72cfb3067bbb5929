"""The reads of zonda's own API keep the quotas of the project and the types it may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.core.engine.actions import CreateStack
from zonda.core.template.source.bundle import Bundle

from ..service.test_quotas import make_quotas
from .conftest import TEMPLATE, Own, Reply

LIMITED = {
    "bytes": ({"quotas": {"template_bytes": 100}}, 400, "exceeds maximum allowed size (100 bytes)"),
    "types": ({"resource_types": ["OS::Heat::V*"]}, 403, "resource_types:OS::Heat::TestResource"),
}


@pytest.fixture
def limit(own: Own) -> Iterator[Callable[[str], None]]:
    """Limits the project by a section of ``LIMITED``."""
    service = own.api.dispatcher.service
    kept = service.quotas

    def put(name: str) -> None:
        service.quotas = make_quotas(service.app.clock, projects={"p1": LIMITED[name][0]})

    yield put
    service.quotas = kept


def plan(own: Own) -> Reply:
    action = actions.to_json(CreateStack("limited", Bundle(TEMPLATE)))
    return own.read("stacks.plan", action=action, keep=False, outside=[])


def validate(own: Own) -> Reply:
    options = {"ignore_unknown": False, "all_given": False}
    return own.read("templates.validate", bundle=Bundle(TEMPLATE).to_json(), **options)


@pytest.mark.parametrize(
    ("ask", "limited"),
    [
        (plan, "bytes"),
        (plan, "types"),
        (validate, "bytes"),
        (validate, "types"),
    ],
)
def test_what_the_project_may_not_create_is_refused_beforehand(
    own: Own, limit: Any, ask: Callable[[Own], Reply], limited: str
) -> None:
    assert ask(own).status == 200
    limit(limited)
    refused = ask(own)

    assert refused.status == LIMITED[limited][1], refused.body
    assert LIMITED[limited][2] in refused.error["message"]


def test_no_template_that_is_too_large_is_read(own: Own, limit: Any) -> None:
    limit("bytes")
    bundle = Bundle(TEMPLATE).to_json()
    for name, given in (
        ("templates.explain_type", {"type_name": "OS::Heat::TestResource", "resource": ""}),
        ("templates.list_candidates", {}),
        ("templates.list_parameters", {"given_too": False}),
        ("inspector.build_template_graph", {"name": "x"}),
    ):
        assert own.read(name, bundle=bundle, **given).status == 400, name
