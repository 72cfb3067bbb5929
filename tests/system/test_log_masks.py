"""Masks of what lets its reader act for others."""

from __future__ import annotations

import pytest

from zonda.core.system.log_masks import MASK, mask_fields, mask_text

TOKEN = "AQEBl_PAAABwAIAAAAAAAAABAAAAAAAAAAA.c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U"


@pytest.mark.parametrize(
    "text",
    [
        f"POST /signal/v1/{TOKEN}: 200",
        f"https://zonda.example/signal/v1/{TOKEN}",
        f'"https://zonda.example/callback/v1/{TOKEN}"',
        f"/v1/callbacks/{TOKEN}?x=1",
        f"curl -H 'X-Auth-Token: {TOKEN}' http://host/",
        f"x-auth-token={TOKEN}",
        f"Authorization: Bearer {TOKEN}",
        f"{{'authorization': 'Bearer {TOKEN}'}}",
        f"authorization: {TOKEN}",
        f"sent Bearer {TOKEN} to",
        f"Cookie: session={TOKEN}",
        f"POST /v1/signal/{TOKEN}: 404",
        f'POST /signal/v1/"{TOKEN}: 404',
        f"POST /signal/v1/ {TOKEN}: 404",
        f"POST /signal/v1/x\n{TOKEN}: 404",
        f"token={TOKEN}",
        f"{TOKEN}, which was pasted",
    ],
)
def test_a_token_is_masked_wherever_it_stands(text: str) -> None:
    assert TOKEN not in mask_text(text)
    assert MASK in mask_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "PUT /v1/p/stacks/a/1: 202",
        "the token is missing",
        "",
        "a basic rule",
        "signals",
        f"{'a' * 40}.yaml",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert mask_text(text) == text


def test_fields_that_are_no_texts_stay() -> None:
    assert mask_fields({"status": 200, "path": f"/signal/v1/{TOKEN}"}) == {
        "status": 200,
        "path": f"/signal/v1/{MASK}",
    }
