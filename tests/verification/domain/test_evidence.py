"""Signed evidence: whole when nothing was touched, broken when anything was."""

import copy
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.evidence import (
    FORMAT,
    NotEvidence,
    OtherKey,
    SignatureBroken,
    check,
    key_from_seed,
    key_id_of,
    signed,
    writable,
)

KEY = key_from_seed("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
DOCUMENT = {
    "issuedAt": "2026-11-30T08:00:00.000Z",
    "finding": {"kind": "merged_after_fail", "severity": "violation", "missing": [[3, 4]]},
    "events": [{"sha256": "ab", "event": {"payload": {"n": 1.5, "deep": [None, True, "é"]}}}],
}


def raw(document) -> bytes:
    return json.dumps(document).encode()


def test_what_was_signed_is_whole():
    checked = check(raw(signed(DOCUMENT, KEY)))

    assert checked.document["finding"] == DOCUMENT["finding"]
    assert checked.document["format"] == FORMAT
    assert checked.key_id == key_id_of(KEY.public_key())


def test_neither_white_space_nor_the_order_of_keys_matters():
    document = signed(DOCUMENT, KEY)
    turned = {key: document[key] for key in reversed(document)}

    assert check(json.dumps(turned, indent=4).encode())


def places(value, path=()):
    """Every place of a document."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*path, key)
            yield from places(part, (*path, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield (*path, at)
            yield from places(part, (*path, at))


SIGNED = signed(DOCUMENT, KEY)


@pytest.mark.parametrize("place", list(places(SIGNED)), ids=str)
def test_a_change_anywhere_is_noticed(place):
    changed = copy.deepcopy(SIGNED)
    *way, last = place
    part = changed
    for step in way:
        part = part[step]
    part[last] = "other" if part[last] != "other" else "another"

    with pytest.raises((SignatureBroken, NotEvidence)):
        check(raw(changed))


@pytest.mark.parametrize("place", [each for each in places(SIGNED) if isinstance(each[-1], str)])
def test_leaving_something_out_is_noticed(place):
    changed = copy.deepcopy(SIGNED)
    *way, last = place
    part = changed
    for step in way:
        part = part[step]
    del part[last]

    with pytest.raises((SignatureBroken, NotEvidence)):
        check(raw(changed))


def test_adding_something_is_noticed():
    with pytest.raises(SignatureBroken):
        check(raw({**SIGNED, "note": "all fine"}))


def test_signing_again_with_another_key_is_noticed_by_whoever_knows_the_right_one():
    forged = signed({**DOCUMENT, "events": []}, Ed25519PrivateKey.generate())

    assert check(raw(forged)).document["events"] == []
    with pytest.raises(OtherKey):
        check(raw(forged), key_id_of(KEY.public_key()))


@pytest.mark.parametrize("name", ["keyId", "publicKey"])
def test_the_expected_key_may_be_named_in_two_ways(name):
    assert check(raw(SIGNED), SIGNED["signature"][name]).key_id == SIGNED["signature"]["keyId"]


def test_a_key_twice_in_one_object_is_refused():
    doubled = raw(SIGNED).replace(b'{"format"', b'{"finding": {}, "format"', 1)

    with pytest.raises(NotEvidence):
        check(doubled)


@pytest.mark.parametrize(
    "file",
    [b"", b"{}", b"[]", b"null", b'{"format": "other"}', b"\xff", raw({"format": FORMAT})],
)
def test_what_is_no_evidence_is_said_to_be_none(file):
    with pytest.raises(NotEvidence):
        check(file)


@given(st.binary(max_size=200))
def test_no_file_makes_it_crash(file):
    with pytest.raises(NotEvidence):
        check(file)


def test_what_canonical_json_cannot_write_is_stood_for_by_its_digest():
    stub = writable({"big": 2**60})

    assert stub["omitted"]
    assert len(stub["sha256"]) == 64
    assert writable({"big": 2**53 - 1}) == {"big": 2**53 - 1}
    assert check(raw(signed({"payload": stub}, KEY)))


@pytest.mark.parametrize("seed", ["", "AAEC", "not base64!"])
def test_a_seed_that_is_no_key_is_refused(seed):
    with pytest.raises(ValueError):
        key_from_seed(seed)
