"""``OS::Heat::None`` takes whatever it is given, also where that has no value."""

from __future__ import annotations

import pytest

from zonda.hooks.errors import ValidationErrors

from .lives import Life


def test_what_has_no_value_makes_the_other_properties_no_strangers(life: Life) -> None:
    text = """
        resources:
          n:
            type: OS::Heat::None
            properties: {wrong: {str_split: [a, {}]}, other: 1}
        """
    with pytest.raises(ValidationErrors) as raised:
        life.create(text)
    (fault,) = raised.value.errors
    assert "str_split" in str(fault)
