"""Which deliveries are believed, in every spelling, and what breaks the belief."""

import hashlib
import hmac
import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.webhooks import (
    _NOBODYS_KEY,
    Reason,
    Unverified,
    key_of_standard_secret,
    verify,
)
from tests.signing import (
    DELIVERY_ID,
    NOW,
    OTHER,
    SECRET,
    SPELLINGS,
    companion,
    mac,
    stamp,
    standard,
    v1,
    v2,
)

BODY = b'{"runId":"run-1","type":"node.completed","sequence":3}'
SIGNED = {"openwop-signature", "x-openwop-signature", "webhook-signature"}

every_spelling = pytest.mark.parametrize("spelling", SPELLINGS)


def check(headers, body=BODY, secrets=(SECRET,), now=NOW):
    return verify(headers, body, secrets=secrets, now=now)


def reason(headers, body=BODY, secrets=(SECRET,), now=NOW):
    with pytest.raises(Unverified) as unverified:
        check(headers, body, secrets, now)
    return unverified.value.reason


@every_spelling
def test_every_spelling_that_hosts_use_is_believed(spelling):
    assert check(SPELLINGS[spelling](BODY)).spelling


def test_the_spelling_and_the_subscription_are_told():
    spellings = {name: check(sign(BODY)).spelling for name, sign in SPELLINGS.items()}

    assert spellings == {
        "v2": "openwop sha256",
        "v1": "x-openwop sha256",
        "reference": "x-openwop hex",
        "app": "openwop t,v1",
        "standard": "standard",
        "both": "openwop sha256 + x-openwop sha256",
        "companion": "openwop sha256 + standard",
    }
    assert check(SPELLINGS["app"](BODY)).subscription == "f7ff49e6"
    assert check(standard(BODY)).subscription == ""


@pytest.mark.parametrize("form", ["sha256=<hex>", "<hex>", "t=<ts>,v1=<hex>", "sha256=<HEX>"])
@pytest.mark.parametrize("family", [v1, v2])
def test_each_family_may_use_each_spelling_of_the_value(form, family):
    headers = family(BODY)
    name = next(each for each in headers if each.endswith("openwop-signature"))
    digits = mac(SECRET, stamp(), BODY)
    value = form.replace("<hex>", digits).replace("<HEX>", digits.upper())

    assert check(headers | {name: value.replace("<ts>", stamp())})


@every_spelling
@pytest.mark.parametrize("shift_s", [-300, -299, 0, 299, 300])
def test_within_five_minutes_a_signature_is_fresh(spelling, shift_s):
    assert check(SPELLINGS[spelling](BODY, ts=stamp(shift_s=shift_s)))


@every_spelling
@pytest.mark.parametrize(
    ("shift_s", "why"),
    [(-301, Reason.EXPIRED), (301, Reason.FUTURE), (-86_400, Reason.EXPIRED)],
)
def test_outside_of_five_minutes_it_is_not(spelling, shift_s, why):
    assert reason(SPELLINGS[spelling](BODY, ts=stamp(shift_s=shift_s))) is why


def test_the_window_is_measured_to_the_fraction_of_a_second():
    headers = v2(BODY)

    assert check(headers, now=NOW + timedelta(seconds=300))
    assert reason(headers, now=NOW + timedelta(seconds=300, milliseconds=1)) is Reason.EXPIRED


@pytest.mark.parametrize(
    "ts",
    [
        f" {stamp()}", f"{stamp()} ", f"+{stamp()}", f"000{stamp()}", f"1_{stamp()[1:]}",
        f"{stamp()}.0", "1.7e9", "-1", "0", "", f"{stamp()}000", "2026-11-30T08:00:00Z",
        "".join(chr(0x660 + int(digit)) for digit in stamp()), f"{stamp()}\n", "٣" * 10,
    ],
)  # fmt: skip
@pytest.mark.parametrize("sign", [v1, v2, standard, SPELLINGS["app"]])
def test_a_timestamp_is_ten_or_eleven_ascii_digits_and_nothing_else(ts, sign):
    assert reason(sign(BODY, ts=ts)) is Reason.MALFORMED_TIMESTAMP


@every_spelling
def test_another_secret_does_not_verify(spelling):
    assert reason(SPELLINGS[spelling](BODY, OTHER)) is Reason.MISMATCH


@every_spelling
def test_two_secrets_are_good_while_one_is_replaced(spelling):
    for secret in (SECRET, OTHER):
        assert check(SPELLINGS[spelling](BODY, secret), secrets=(OTHER, SECRET))


def test_a_host_that_rotates_signs_each_family_with_what_it_has():
    """OpenWOP-Signature stays on the old secret; Standard Webhooks carries one entry per secret."""
    old, new = standard(BODY, SECRET), standard(BODY, OTHER)
    entries = f"{new['webhook-signature']} {old['webhook-signature']}"

    assert check(v2(BODY, SECRET) | old | {"webhook-signature": entries}, secrets=(OTHER, SECRET))


@pytest.mark.parametrize("secret", ["", "short", "x" * 23])
@every_spelling
def test_an_empty_or_short_secret_never_verifies(spelling, secret):
    sign = SPELLINGS[spelling]
    weak = "whsec_" if spelling in ("standard", "companion") else secret

    assert reason(sign(BODY, weak), secrets=(weak,)) in (Reason.MISMATCH, Reason.CONFLICT)
    assert reason(sign(BODY, weak), secrets=()) is Reason.MISMATCH


def test_the_key_that_stands_in_for_none_is_nobodys():
    known = _NOBODYS_KEY.decode()

    assert reason(v2(BODY, known), secrets=()) is Reason.MISMATCH
    assert reason(v2(BODY, known), secrets=("short",)) is Reason.MISMATCH


def test_a_standard_secret_is_strict_base64_of_at_least_24_bytes():
    assert key_of_standard_secret(SECRET) == bytes(range(32))
    for bad in (
        "",
        "whsec_",
        SECRET.removeprefix("whsec_"),
        "whsec_AAAA",
        SECRET[:-1],
        SECRET + "!",
    ):
        assert key_of_standard_secret(bad) is None


@pytest.mark.parametrize("algorithm", ["", "V1", "v2", "none", "hmac-sha256", " v1", "v1 "])
@pytest.mark.parametrize(("sign", "name"), [(v1, "x-openwop"), (v2, "openwop")])
def test_only_the_one_algorithm_is_known(algorithm, sign, name):
    headers = sign(BODY) | {f"{name}-signature-algorithm": algorithm}

    assert reason(headers) is Reason.ALGORITHM


def test_the_algorithm_may_be_left_out_where_v1_is_meant():
    old, new = v1(BODY), v2(BODY)
    del old["x-openwop-signature-algorithm"], new["openwop-signature-algorithm"]

    assert check(old)
    assert reason(new) is Reason.ALGORITHM


@pytest.mark.parametrize(
    "value",
    [
        "", "sha256=", "sha256= <hex>", "sha512=<hex>", "<hex>,<hex>", "sha256=<hex>,sha256=<hex>",
        "v1=<hex>", "sha256=<hex> ", "SHA256=<hex>", "t=<ts>,v1=", "t=<ts>;v1=<hex>",
        "v1=<hex>,t=<ts>", "t=<ts>,v1=<hex>,v1=<hex>", "sha256=<hex>\n", "sha256=g<hex>",
    ],
)  # fmt: skip
def test_a_value_in_no_known_spelling_is_malformed(value):
    digits = mac(SECRET, stamp(), BODY)
    headers = v2(BODY) | {
        "openwop-signature": value.replace("<hex>", digits).replace("<ts>", stamp())
    }

    assert reason(headers) is Reason.MALFORMED_SIGNATURE


@pytest.mark.parametrize("cut", [slice(0, 32), slice(0, 63), slice(1, 64)])
def test_a_part_of_the_signature_is_not_the_signature(cut):
    part = f"sha256={mac(SECRET, stamp(), BODY)[cut]}"

    assert reason(v2(BODY) | {"openwop-signature": part}) is Reason.MISMATCH
    longer = v2(BODY)["openwop-signature"] + "00"
    assert reason(v2(BODY) | {"openwop-signature": longer}) is Reason.MISMATCH


def test_a_signature_over_the_body_alone_is_not_over_the_time():
    alone = hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()

    assert reason(v2(BODY) | {"openwop-signature": f"sha256={alone}"}) is Reason.MISMATCH


def test_without_a_signature_nothing_is_believed():
    assert reason({}) is Reason.MISSING
    headers = v2(BODY)
    del headers["openwop-signature"]
    assert reason(headers) is Reason.MISSING


def test_without_a_time_nothing_is_believed():
    for sign, name in ((v1, "x-openwop-timestamp"), (v2, "openwop-timestamp")):
        headers = sign(BODY)
        del headers[name]
        assert reason(headers) is Reason.MALFORMED_TIMESTAMP


def test_two_times_that_differ_are_none():
    later = stamp(shift_s=1)
    assert reason(v1(BODY) | {"x-openwop-signature-timestamp": later}) is Reason.MALFORMED_TIMESTAMP
    timed = SPELLINGS["app"](BODY) | {"openwop-timestamp": later}
    assert reason(timed) is Reason.MALFORMED_TIMESTAMP


def test_of_several_proofs_all_must_hold():
    zeros = "sha256=" + "0" * 64
    for headers in (
        v2(BODY) | v1(BODY) | {"x-openwop-signature": zeros},
        v2(BODY) | v1(BODY) | {"openwop-signature": zeros},
        v2(BODY) | v1(BODY, ts=stamp(shift_s=-301)),
        companion(BODY) | {"webhook-signature": "v1,AAAA"},
        companion(BODY) | {"openwop-signature": zeros},
        companion(BODY) | {"openwop-signature": ""},
    ):
        assert reason(headers) is Reason.CONFLICT


def test_a_delivery_id_is_signed_with_the_standard_proof_only():
    other = "msg_another_id_00000"
    assert reason(standard(BODY) | {"webhook-id": other}) is Reason.MISMATCH
    assert check(v2(BODY) | {"openwop-webhook-id": other})
    for bad in ("", "short", "msg.with.dots.000000", "x" * 129):
        assert reason(standard(BODY) | {"webhook-id": bad}) is Reason.MALFORMED_SIGNATURE


def test_entries_of_another_version_are_passed_over():
    good = standard(BODY)["webhook-signature"]

    assert check(standard(BODY) | {"webhook-signature": f"v1a,AAAA {good}"})
    only_others = standard(BODY) | {"webhook-signature": good.replace("v1,", "v2,")}
    assert reason(only_others) is Reason.MALFORMED_SIGNATURE


@every_spelling
def test_a_flipped_bit_anywhere_in_body_or_signature_is_noticed(spelling):
    headers = SPELLINGS[spelling](BODY)
    for at in range(len(BODY) * 8):
        flipped = bytearray(BODY)
        flipped[at // 8] ^= 1 << at % 8
        assert reason(headers, bytes(flipped)) is Reason.MISMATCH
    for name in SIGNED & headers.keys():
        value = headers[name].encode()
        for at in range(len(value) * 8):
            changed = bytearray(value)
            changed[at // 8] ^= 1 << at % 8
            text = changed.decode("latin-1")
            if text.lower() != headers[name].lower() or "standard" in spelling:
                reason(headers | {name: text})


@every_spelling
def test_a_flipped_bit_in_the_time_is_noticed(spelling):
    headers = SPELLINGS[spelling](BODY)
    for name in [each for each in headers if each.endswith("timestamp")]:
        value = headers[name].encode()
        for at in range(len(value) * 8):
            changed = bytearray(value)
            changed[at // 8] ^= 1 << at % 8
            reason(headers | {name: changed.decode("latin-1")})


@given(st.sampled_from(sorted(SPELLINGS)), st.binary(max_size=300), st.randoms())
def test_headers_of_one_delivery_never_carry_another(spelling, body, chance: random.Random):
    headers = SPELLINGS[spelling](body)

    assert check(headers, body)
    other = bytes(chance.randbytes(len(body) + chance.choice([0, 1])))
    if other != body:
        assert reason(headers, other) is Reason.MISMATCH


@given(
    st.dictionaries(
        st.sampled_from(
            [
                *v1(b""), *v2(b""), *standard(b""), "x-openwop-signature-timestamp", "content-type",
            ]
        ),
        st.text(max_size=80),
    )
)  # fmt: skip
def test_no_headers_that_somebody_makes_up_are_believed(headers):
    reason(headers)


def test_an_id_that_cannot_be_shown_is_not_kept():
    assert check(v2(BODY) | {"openwop-webhook-id": "a\x00b"}).subscription == ""
    assert check(v2(BODY) | {"openwop-webhook-id": "x" * 129}).subscription == ""
    assert DELIVERY_ID not in check(v2(BODY) | {"webhook-id": DELIVERY_ID}).subscription
