"""Which addresses are out in the open."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.addresses import (
    is_in_the_open,
    is_never_allowed,
    is_within,
    networks,
    parsed,
)

OPEN = ["1.1.1.1", "93.184.216.34", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "2a00::1"]
INSIDE = [
    "0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.9.9.9", "169.254.1.1",
    "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::7f00:1", "fe80::1", "fc00::1", "fd00::1", "ff02::1", "2001:db8::1",
    "2001::1", "2001:20::1", "3fff::1", "5f00::1", "64:ff9b:1::1", "100::1",
]  # fmt: skip


@pytest.mark.parametrize("text", OPEN)
def test_public_addresses_are_in_the_open(text):
    assert is_in_the_open(parsed(text))


@pytest.mark.parametrize("text", INSIDE)
def test_special_addresses_are_not(text):
    assert not is_in_the_open(parsed(text))


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("::ffff:8.8.8.8", "8.8.8.8"),
        ("64:ff9b::7f00:1", "127.0.0.1"),
        ("64:ff9b::808:808", "8.8.8.8"),
        ("2002:7f00:1::", "127.0.0.1"),
        ("2002:808:808::1", "8.8.8.8"),
    ],
)
def test_an_address_is_judged_by_the_one_it_carries(text, inner):
    assert parsed(text) == ip_address(inner)


@pytest.mark.parametrize(
    "text", ["fe80::1%eth0", "0177.0.0.1", "2130706433", "0x7f.1", "1.2.3", "", "host", " 1.1.1.1"]
)
def test_only_plain_spellings_are_addresses(text):
    assert parsed(text) is None


@pytest.mark.parametrize(
    "text", ["169.254.169.254", "fd00:ec2::254", "224.0.0.1", "ff02::1", "0.0.0.0", "::"]
)
def test_some_addresses_are_opened_by_no_setting(text):
    assert is_never_allowed(parsed(text))
    assert not is_never_allowed(parsed("10.0.0.1"))


def test_ranges_are_read_from_text():
    allowed = networks(["10.0.0.0/8", "fd00::/8", "192.168.1.5"])

    assert is_within(parsed("10.2.3.4"), allowed)
    assert is_within(parsed("fd00::7"), allowed)
    assert is_within(parsed("192.168.1.5"), allowed)
    assert not is_within(parsed("192.168.1.6"), allowed)
    with pytest.raises(ValueError, match="everything"):
        networks(["everything"])


@given(st.ip_addresses())
def test_nothing_private_by_the_standard_library_is_in_the_open(address):
    found = parsed(str(address))

    if is_in_the_open(found):
        assert found.is_global
