"""The custom constraints that ask no service."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from zonda.builtin_resources.constraints.text import parse_time
from zonda.builtin_resources.plugin import zonda_constraints
from zonda.hooks.schema.constraints import CustomConstraint
from zonda.hooks.testing import FakeClock, FakeContext

NOW = datetime(2030, 1, 1, tzinfo=UTC).timestamp()
CONTEXT = FakeContext(clock=FakeClock(NOW), constraints=zonda_constraints())
LABEL = "a" * 63


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ip_addr", "10.0.0.1"),
        ("ip_addr", "fe80::1"),
        ("mac_addr", "00:11:22:33:44:55"),
        ("mac_addr", "00-11-22-AA-bb-55"),
        ("mac_addr", "0011.2233.4455"),
        ("mac_addr", "001122334455"),
        ("net_cidr", "10.0.0.0/8"),
        ("net_cidr", "10.0.0.1/8"),
        ("net_cidr", "2001:db8::/32"),
        ("ip_or_cidr", "10.0.0.0/8"),
        ("ip_or_cidr", "::1"),
        ("dns_name", "openstack.org."),
        ("dns_name", "openstack.org"),
        ("dns_name", f"{LABEL}.org"),
        ("dns_name", ""),
        ("rel_dns_name", "a.b"),
        ("rel_dns_name", ""),
        ("dns_domain", "openstack.org."),
        ("dns_domain", ""),
        ("cron_expression", "0 23 * * *"),
        ("cron_expression", "*/5 * * * * 30"),
        ("cron_expression", ""),
        ("iso_8601", "2014-06-01"),
        ("iso_8601", "2014"),
        ("iso_8601", "2014-06"),
        ("iso_8601", "20140601T101112Z"),
        ("iso_8601", "2014-06-01 10:11:12.5 +02:00"),
        ("iso_8601", "2014-06-01T10-0130"),
        ("timezone", "Europe/Berlin"),
        ("timezone", "asia/taipei"),
        ("timezone", "UTC"),
        ("timezone", ""),
        ("json_string", '{"a": 1}'),
        ("json_string", "5"),
        ("expiration", "2030-01-01T00:00:01Z"),
        ("expiration", " 2099-01-01 "),
        ("expiration", ""),
    ],
)
def test_a_good_value(name: str, value: str) -> None:
    CustomConstraint(name).validate(value, None, CONTEXT)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ip_addr", "x", "Invalid IP address"),
        ("ip_addr", "10.0.0", "Invalid IP address"),
        ("ip_addr", "fe80::1%eth0", "Invalid IP address"),
        ("ip_addr", 5, "Invalid IP address"),
        ("mac_addr", "00:11", "Invalid MAC address."),
        ("mac_addr", "00:11:22:33:44:5g", "Invalid MAC address."),
        ("mac_addr", 5, "Invalid MAC address."),
        ("net_cidr", "10.0.0.0/40", "Invalid net cidr invalid IPNetwork 10.0.0.0/40 "),
        ("net_cidr", "", "Invalid net cidr invalid IPNetwork  "),
        (
            "net_cidr",
            "10.0.0.1",
            "'10.0.0.1' isn't a recognized IP subnet cidr, '10.0.0.1/32' is recommended",
        ),
        (
            "net_cidr",
            "10.0.0.0/255.0.0.0",
            "'10.0.0.0/255.0.0.0' isn't a recognized IP subnet cidr, '10.0.0.0/8' is recommended",
        ),
        ("ip_or_cidr", "10.0.0", "'10.0.0' is not a valid IP address"),
        ("ip_or_cidr", "10.0.0.0/x", "'10.0.0.0/x' is not a valid IP subnet"),
        ("ip_or_cidr", 5, "5 is not a valid IP or CIDR"),
        (
            "dns_name",
            "-a.org",
            "'-a.org' not in valid format. Reason: Name '-a' must not start or end with a hyphen.",
        ),
        (
            "dns_name",
            ".org",
            "'.org' not in valid format. Reason: Encountered an empty component.",
        ),
        (
            "dns_name",
            "a_b.org",
            "'a_b.org' not in valid format. Reason: Name 'a_b' must be 1-63 characters long, each "
            "of which can only be alphanumeric or a hyphen.",
        ),
        (
            "dns_name",
            "a.123.",
            "'a.123.' not in valid format. Reason: TLD '123' must not be all numeric.",
        ),
        (
            "dns_name",
            f"{LABEL}.{LABEL}.{LABEL}.{LABEL}.b",
            f"'{LABEL}.{LABEL}.{LABEL}.{LABEL}.b' not in valid format. Reason: "
            f"'{LABEL}.{LABEL}.{LABEL}.{LABEL}.b' exceeds the 255 character FQDN limit",
        ),
        ("dns_name", 5, "'5' not in valid format. Reason: It is not text."),
        ("rel_dns_name", "a.", "'a.' is a FQDN. It should be a relative domain name."),
        (
            "rel_dns_name",
            "a." * 126 + "b",
            f"'{'a.' * 126}b' contains '253' characters. Adding a domain name will cause it to "
            "exceed the maximum length of a FQDN of '255'.",
        ),
        ("dns_domain", "a.org", "'a.org' must end with '.'."),
        (
            "cron_expression",
            "* * *",
            "Invalid CRON expression: Exactly 5, 6 or 7 columns has to be specified for iterator "
            "expression.",
        ),
        ("timezone", "wrong", "Invalid timezone: 'wrong'"),
        ("timezone", "../etc", "Invalid timezone: '../etc'"),
        (
            "json_string",
            "{a",
            "JSON string {a is invalid: Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1)",
        ),
        (
            "expiration",
            "Fri 13th, 2050",
            "Expiration Fri 13th, 2050 is invalid: Unable to parse date string 'Fri 13th, 2050'",
        ),
        (
            "expiration",
            "2029-12-31T23:59:59Z",
            "Expiration 2029-12-31T23:59:59Z is invalid: Expiration time is out of date.",
        ),
    ],
)
def test_a_bad_value(name: str, value: Any, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        CustomConstraint(name).validate(value, None, CONTEXT)
    assert str(caught.value) == f"Error validating value '{value}': {sentence}"


@pytest.mark.parametrize("value", ["x", "", "2014-13-01", "2014-W01", "2014-06-01T25", 5, None])
def test_a_bad_moment_has_no_further_reason(value: Any) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        CustomConstraint("iso_8601").validate(value, None, CONTEXT)
    assert str(caught.value) == f"Error validating value '{value}'"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param("2014", datetime(2014, 1, 1, tzinfo=UTC), id="year"),
        pytest.param("201406", datetime(2014, 6, 1, tzinfo=UTC), id="month"),
        pytest.param("2014-06-07", datetime(2014, 6, 7, tzinfo=UTC), id="day"),
        pytest.param(
            "2014-06-07T10:11:12+02:30",
            datetime(2014, 6, 7, 7, 41, 12, tzinfo=UTC),
            id="east: 10:11 - 2:30",
        ),
        pytest.param(
            "2014-06-07T10-01", datetime(2014, 6, 7, 11, tzinfo=UTC), id="west: 10:00 + 1:00"
        ),
    ],
)
def test_moments(text: str, moment: datetime) -> None:
    assert parse_time(text) == moment


def test_without_a_clock_only_the_form_of_an_expiration_is_checked() -> None:
    assert zonda_constraints()["expiration"]().validate("1970-01-01", None)
