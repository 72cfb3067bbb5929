"""``OS::Heat::None`` takes whatever it is given, also where that has no value."""

from __future__ import annotations

from .lives import Life


def test_none_takes_properties_without_a_value_and_any_update_policy(life: Life) -> None:
    text = """
        resources:
          n:
            type: OS::Heat::None
            properties: {wrong: {str_split: [a, {}]}, other: 1}
            update_policy: {rolling_update: {nothing: {get_param: knows_it}}}
        """
    assert life.create(text).state == "CREATE_COMPLETE"
