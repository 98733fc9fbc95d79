"""`review.resolved`, signed for both kinds of receivers."""

import base64
import hmac
import json
from datetime import UTC, datetime

import pytest
from openwop_client import VerifyValid, verify_webhook_signature

from verification.domain.decisions import Action
from verification.domain.outgoing import (
    BadDeliveryId,
    Resolved,
    WeakSecret,
    review_resolved,
    signed_headers,
)

AT = datetime(2026, 11, 30, 8, 0, 0, 5000, tzinfo=UTC)
ID = "dlv_0123456789abcdef"
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OLD = "whsec_" + base64.b64encode(bytes(range(100, 132))).decode()
BODY = review_resolved(
    Resolved("42", "acme/r-1", Action.OVERRIDE, AT, "p-1", target="e7", decision="pass")
).content


def headers(**more):
    return signed_headers(BODY, **{"secrets": [SECRET], "delivery_id": ID, "at": AT, **more})


def test_the_body_says_what_was_decided_and_leaves_out_what_is_empty():
    assert json.loads(BODY) == {
        "type": "review.resolved",
        "timestamp": "2026-11-30T08:00:00.005Z",
        "data": {
            "escalationId": "42",
            "runId": "acme/r-1",
            "target": "e7",
            "action": "override",
            "decision": "pass",
            "decidedAt": "2026-11-30T08:00:00.005Z",
            "decidedBy": "p-1",
        },
    }


def test_the_official_sdk_accepts_it():
    sent = headers()

    verdict = verify_webhook_signature(
        SECRET,
        sent["OpenWOP-Signature"],
        sent["OpenWOP-Timestamp"],
        BODY,
        now_seconds=int(AT.timestamp()) + 299,
        algorithm_header=sent["OpenWOP-Signature-Algorithm"],
    )
    assert verdict == VerifyValid()
    assert sent["OpenWOP-Event-Type"] == "review.resolved"
    assert sent["OpenWOP-Webhook-Id"] == sent["webhook-id"] == ID


def standard_verify(secret, sent, body):
    """Verify as the Standard Webhooks specification says."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{sent['webhook-id']}.{sent['webhook-timestamp']}.".encode() + body
    mac = base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()
    return f"v1,{mac}" in sent["webhook-signature"].split(" ")


def test_a_standard_webhooks_receiver_accepts_it():
    assert standard_verify(SECRET, headers(), BODY)
    assert not standard_verify(SECRET, headers(), BODY + b" ")
    assert not standard_verify(SECRET, {**headers(), "webhook-id": "dlv_ffffffffffffffff"}, BODY)


def test_the_published_example_of_standard_webhooks_verifies():
    body = b'{"test": 2432232314}'
    sent = signed_headers(
        body,
        secrets=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        delivery_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        at=datetime.fromtimestamp(1614265330, UTC),
    )

    assert sent["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_both_secrets_sign_while_one_is_being_replaced():
    sent = headers(secrets=[SECRET, OLD])

    assert standard_verify(SECRET, sent, BODY)
    assert standard_verify(OLD, sent, BODY)


@pytest.mark.parametrize(
    "secret",
    ["", "whsec_", "whsec_" + "A" * 8, "plain-text-secret-of-some-length-indeed", "whsec_é",
     "whsec_" + "-_" * 22, base64.b64encode(bytes(32)).decode()],
)  # fmt: skip
def test_a_weak_secret_signs_nothing_and_is_not_shown(secret):
    with pytest.raises(WeakSecret) as caught:
        headers(secrets=[secret])

    assert secret in {"", "whsec_"} or secret not in str(caught.value)


def test_no_secret_signs_nothing():
    with pytest.raises(WeakSecret):
        headers(secrets=[])


@pytest.mark.parametrize(
    "delivery_id", ["short", "a.b.c.d.e.f.g.h.i.j", "x" * 129, "a" * 15 + "\n"]
)
def test_an_id_that_is_signed_is_a_token(delivery_id):
    with pytest.raises(BadDeliveryId):
        headers(delivery_id=delivery_id)


def test_the_same_bytes_are_sent_each_time_with_a_new_signature():
    later = headers(at=datetime(2026, 11, 30, 9, tzinfo=UTC))

    assert later["webhook-id"] == headers()["webhook-id"]
    assert later["webhook-signature"] != headers()["webhook-signature"]
