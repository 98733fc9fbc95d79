"""Every hostile or odd delivery over HTTP gets one of its listed answers and leaves nothing."""

import json
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from runs.actions.webhook_secrets import rotate_secret
from runs.models import Event, Host, RetiringSecret, Run
from runs.sealing import unseal
from tests.factories import event, send
from tests.signing import OTHER, mac, packed

pytestmark = pytest.mark.django_db

PATH = Path(__file__).parents[1] / "fixtures" / "badinputs" / "webhooks.jsonl"
DELIVERIES = [json.loads(line) for line in PATH.read_text().splitlines()]
RUN = "tenant-a/run-0123456789abcdef"
FOREIGN = "tenant-b/run-0123456789abcdef"


@pytest.fixture
def deliveries(host, other_host):
    """A host of tenant a with a secret that was replaced too long ago, and one of tenant b."""
    Host.objects.filter(pk=host.pk).update(tenant="tenant-a")
    Host.objects.filter(pk=other_host.pk).update(tenant="tenant-b")
    retired = unseal(host.sealed_webhook_secret)
    rotate_secret(host=host)
    RetiringSecret.objects.update(valid_until=datetime.now(UTC) - timedelta(seconds=1))
    send(other_host, event(0, "run.started", run=FOREIGN))
    secrets = {
        "current": unseal(host.sealed_webhook_secret),
        "retired": retired,
        "empty": "",
        "wrong": OTHER,
    }
    return Deliveries(host, other_host, secrets)


@dataclass
class Deliveries:
    host: Host
    other_host: Host
    secrets: dict[str, str]

    def send(self, delivery: dict[str, Any]) -> list[Any]:
        """The answers to a delivery, or to both if it is sent twice."""
        signing = delivery.get("sign", {})
        body = self.body(delivery)
        headers = self.headers(signing, body) if signing else {}
        match signing.get("tamper"):
            case "body":
                body = body[:-1] + b" }"
            case "reserialize":
                body = json.dumps(json.loads(body), separators=(",", ":"), sort_keys=True).encode()
        to = self.other_host if delivery.get("to") else self.host
        answers = [post(to, body, headers)]
        if signing.get("twice"):
            if signing.get("secondId"):
                headers["OpenWOP-Webhook-Id"] = "changed"
            answers.append(post(to, body, headers))
        return answers

    def body(self, delivery: dict[str, Any]) -> bytes:
        text = delivery.get("body") or "".join(part * n for part, n in delivery["parts"])
        filled = {
            "<run>": RUN,
            "<foreign run>": FOREIGN,
            "<id>": str(uuid.uuid4()),
            "<now>": datetime.now(UTC).isoformat(),
            "<sequence>": "1",
        }
        for name, value in filled.items():
            text = text.replace(name, value)
        return text.encode()

    def headers(self, signing: dict[str, Any], body: bytes) -> dict[str, str]:
        ts = moment(signing["time"])
        secret = self.secrets[signing.get("secret", "current")]
        digits = mac(secret, ts, body)
        if signing.get("tamper") == "unsigned_ts":
            digits = mac(secret, "", body)
        value = signing["value"].replace("<hex>", digits).replace("<HEX>", digits.upper())
        family = signing.get("family", "OpenWOP-")
        headers = {
            f"{family}Signature": value.replace("<ts>", ts),
            f"{family}Timestamp": ts,
            f"{family}Signature-Algorithm": signing.get("alg", "v1"),
            f"{family}Webhook-Id": "sub_1",
            f"{family}Event-Type": signing.get("eventType", "node.completed"),
        }
        if signing.get("other"):
            zeros = "sha256=" + "0" * 64
            headers |= {"X-openwop-Signature": zeros, "X-openwop-Timestamp": ts}
        return {
            name: value for name, value in headers.items() if name not in signing.get("omit", ())
        }


def moment(text: str) -> str:
    now = int(time.time())
    if text.startswith("<ts+"):  # a second that ends meanwhile must not bring it nearer
        return str(now + 1 + int(text[3:-1]))
    if text.startswith("<ts-"):
        return str(now + int(text[3:-1]))
    fills = {"<ts>": str(now), "<ts_>": f"1_{str(now)[1:]}", "<now>": datetime.now(UTC).isoformat()}
    for name, value in fills.items():
        text = text.replace(name, value)
    return text


def post(host: Host, body: bytes, headers: dict[str, str]) -> Any:
    return Client().post(
        f"/api/v1/webhooks/{host.slug}", body, content_type="application/json", headers=headers
    )


@pytest.mark.parametrize("delivery", DELIVERIES, ids=[each["name"] for each in DELIVERIES])
def test_every_delivery_gets_one_of_its_answers(deliveries, delivery):
    events, runs = Event.objects.count(), Run.objects.count()

    answers = deliveries.send(delivery)

    for answer in answers:
        assert answer.status_code in delivery["status"]
        assert answer.headers["Content-Type"] == "application/json"
    stored = Event.objects.count() - events
    assert stored == (1 if answers[0].status_code < 300 else 0)
    if answers[0].status_code >= 400:
        said = answers[0].json()
        assert said["error"] in delivery["error"]
        assert said["details"]["reason"] in delivery.get("reasons", [said["details"]["reason"]])
        assert Run.objects.count() == runs


def test_all_that_is_not_proven_is_told_the_same_but_for_the_reason(deliveries):
    said = set()
    for delivery in DELIVERIES:
        if delivery["status"] == [401]:
            (answer,) = deliveries.send(delivery)
            body = answer.json()
            assert set(body) == {"error", "message", "details"}
            assert set(body["details"]) == {"reason"}
            said.add((body["error"], body["message"]))

    assert len(said) == 1


def test_a_host_that_does_not_exist_is_told_what_a_wrong_signature_is_told(deliveries):
    body = packed(event(0))
    headers = deliveries.headers({"time": "<ts>", "value": "sha256=<hex>", "secret": "wrong"}, body)
    nobody = Host(slug="nobody")

    answers = [post(each, body, headers) for each in (deliveries.host, nobody)]

    assert answers[0].status_code == answers[1].status_code == 401
    assert answers[0].json() == answers[1].json()
    assert dict(answers[0].headers).keys() == dict(answers[1].headers).keys()
