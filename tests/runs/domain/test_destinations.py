"""Where the Console may connect to."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.addresses import networks
from runs.domain.destinations import (
    SETTING,
    Allowed,
    Destination,
    Reason,
    Refused,
    judge,
    read_url,
)

FIXTURES = Path(__file__).parents[2] / "fixtures/decisions"
URLS = [json.loads(line) for line in (FIXTURES / "urls.jsonl").read_text().splitlines()]
PUBLIC = ["93.184.216.34"]
LOOPBACK = networks(["127.0.0.0/8", "::1/128"])


def addresses_of(url):
    destination = read_url(url)
    is_literal = isinstance(destination, Destination) and destination.is_literal
    return [destination.host] if is_literal else PUBLIC


@pytest.mark.parametrize("record", URLS, ids=lambda record: record["name"])
def test_every_known_trick_is_refused(record):
    url = record["url"]
    # A name that answers differently each time is judged by what it answers now.
    addresses = ["127.0.0.1"] if record["name"] == "rebind-name" else addresses_of(url)

    verdict = judge(url, addresses)

    assert isinstance(verdict, Refused)
    assert verdict.words.endswith(".")
    assert url not in verdict.words


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("https://hooks.example.com", "hooks.example.com", "/"),
        ("https://hooks.example.com/", "hooks.example.com", "/"),
        ("HTTPS://Hooks.Example.COM./a?b=c", "hooks.example.com", "/a?b=c"),
        ("https://hooks.example.com:443/a", "hooks.example.com", "/a"),
        ("https://bücher.example/", "xn--bcher-kva.example", "/"),
        ("https://under_score.example.com/", "under_score.example.com", "/"),
    ],
)
def test_a_public_https_name_is_allowed(url, host, path):
    verdict = judge(url, PUBLIC)

    assert verdict == Allowed(Destination("https", host, 443, path, False), tuple(PUBLIC))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://ex ample.com/", Reason.UNREADABLE),
        ("https://example.com\\@evil.example/", Reason.UNREADABLE),
        ("https://example.com/\r\nHost: x", Reason.UNREADABLE),
        ("https://example.com:/", Reason.UNREADABLE),
        ("https://example.com:443:1/", Reason.UNREADABLE),
        ("https://example.com/é", Reason.UNREADABLE),
        ("https://[::1", Reason.UNREADABLE),
        ("https://a..b/", Reason.HOST),
        ("https://-a.example/", Reason.HOST),
        ("https://a%2eb/", Reason.HOST),
        ("https://" + "a" * 64 + ".example/", Reason.HOST),
        ("https://" + "a." * 130 + "example/", Reason.HOST),
        ("https://0x7f.1/", Reason.NUMERIC_HOST),
        ("https://1.1.1.1.1/", Reason.NUMERIC_HOST),
        ("https://example.com/#x", Reason.FRAGMENT),
        ("//example.com/", Reason.SCHEME),
        ("", Reason.SCHEME),
        ("example.com", Reason.SCHEME),
    ],
)
def test_what_two_parsers_could_read_differently_is_refused(url, reason):
    verdict = read_url(url)

    assert isinstance(verdict, Refused)
    assert verdict.reason is reason


@pytest.mark.parametrize("url", ["https://[v1.x]/", "https://[1.1.1.1]/", "https://[host]/"])
def test_brackets_hold_an_ipv6_address_or_nothing(url):
    assert read_url(url).reason in {Reason.HOST, Reason.UNREADABLE}


def test_one_bad_address_among_good_ones_refuses_them_all():
    verdict = judge("https://hooks.example.com/", [*PUBLIC, "10.0.0.1"])

    assert verdict.reason is Reason.INSIDE


@pytest.mark.parametrize("addresses", [[], ["host"], [*PUBLIC, "fe80::1%eth0"]])
def test_a_name_without_a_plain_address_is_refused(addresses):
    assert judge("https://hooks.example.com/", addresses).reason is Reason.UNRESOLVED


@pytest.mark.parametrize(
    ("url", "addresses", "reason"),
    [
        ("https://hooks.example.com/", ["10.0.0.1"], Reason.INSIDE),
        ("http://hooks.example.com/", PUBLIC, Reason.PLAIN_HTTP),
        ("https://93.184.216.34/", PUBLIC, Reason.LITERAL),
        ("https://postgres/", PUBLIC, Reason.LOCAL_NAME),
        ("https://db.internal/", PUBLIC, Reason.LOCAL_NAME),
        ("https://hooks.example.com:8443/", PUBLIC, Reason.PORT),
    ],
)
def test_a_refusal_that_a_setting_lifts_names_it(url, addresses, reason):
    verdict = judge(url, addresses)

    assert (verdict.reason, verdict.setting) == (reason, SETTING)
    assert SETTING in verdict.words


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080",
        "http://localhost:3000/openwop",
        "https://host-a:9443/",
        "http://[::1]:8080/",
        "http://app.internal/",
    ],
)
def test_the_setting_lifts_them_all_within_its_ranges(url):
    destination = read_url(url)
    addresses = [destination.host] if destination.is_literal else ["127.0.0.1", "::1"]

    assert isinstance(judge(url, addresses, LOOPBACK), Allowed)
    assert isinstance(judge(url, addresses), Refused)


def test_the_setting_lifts_nothing_beyond_its_ranges():
    assert judge("http://hooks.example.com/", PUBLIC, LOOPBACK).reason is Reason.PLAIN_HTTP
    mixed = ["127.0.0.1", *PUBLIC]
    assert judge("http://localhost/", mixed, LOOPBACK).reason is Reason.INSIDE


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254", "::ffff:169.254.169.254", "0.0.0.0", "169.254.170.2", "169.254.170.23",
        "100.100.100.200", "192.0.0.192", "::ffff:100.100.100.200", "fd00:ec2::23", "fd20:ce::254",
        "64:ff9b::a9fe:aa02",
    ],
)  # fmt: skip
def test_cloud_credentials_stay_out_of_reach_whatever_is_allowed(address):
    everything = networks(["0.0.0.0/0", "::/0"])

    verdict = judge("https://hooks.example.com/", [address], everything)

    assert (verdict.reason, verdict.setting) == (Reason.NEVER, "")


@given(st.text(max_size=40))
def test_reading_never_fails(text):
    for url in (text, f"https://{text}", f"https://example.com/{text}"):
        assert isinstance(read_url(url), Destination | Refused)


@given(st.text(max_size=20))
def test_what_is_read_is_one_plain_host(text):
    found = read_url(f"https://{text}/")

    if isinstance(found, Destination):
        assert found.host.isascii()
        assert not set(found.host) & set("@/\\#?% \t\r\n")
