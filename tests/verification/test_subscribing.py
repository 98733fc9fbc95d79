"""A host is asked to deliver its events here: with its own answers, secrets and refusals."""

import json
import threading

import pytest
from django.utils import timezone

from runs.actions.hosts import connect_host
from runs.actions.webhook_secrets import secrets_of
from runs.models import ReceivedDelivery, WebhookSubscription
from tests.local_servers import Server, http, serving
from tests.remote import API_KEY, RunningHost
from tests.web import serving_web
from verification.actions.subscribing import subscribe, unsubscribe
from verification.domain.subscriptions import NotSubscribed, fingerprint_of
from verification.models import AuditEntry

pytestmark = pytest.mark.django_db
CHOSEN = "the-host-chose-this-secret-itself"


def connected(host, url: str, **fields):
    connect_host(host_id=host.slug, base_url=url, api_key=API_KEY)
    host.refresh_from_db()
    for name, value in fields.items():
        setattr(host, name, value)
    host.save()
    return host


def asked(server: Server, at: int = 0) -> tuple[str, dict]:
    """Return a request's first line and its JSON body."""
    head, _, body = server.requests[at].partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0].decode(), json.loads(body or b"{}")


def answering(status: str, **document):
    return serving(http(status, json.dumps(document).encode()))


@pytest.fixture
def web(transactional_db, settings):
    with serving_web() as web:
        settings.CONSOLE_URL = web.url
        yield web


@pytest.mark.parametrize("dialect", ["spec", "sqlite", "python", "openwop-app"])
def test_what_a_host_delivers_after_it_is_believed(host, web, dialect):
    remote = RunningHost(dialect=dialect)
    try:
        connected(host, remote.url)
        made = subscribe(host=host, by="person:1")
        remote.start("refund-policy")
        until = threading.Event()
        for _ in range(200):
            if ReceivedDelivery.objects.filter(host=host).exists():
                break
            until.wait(0.05)
    finally:
        remote.stop()

    delivery = ReceivedDelivery.objects.filter(host=host).first()
    assert delivery is not None
    assert delivery.subscription_id == made.webhook_id
    assert host.refusals.count() == 0


def test_a_v1_host_is_told_address_types_and_secret_and_no_tenant_that_is_not_known(host):
    with answering("201 Created", webhookId="w-1") as server:
        subscribe(host=connected(host, server.url), by="person:1")
        line, body = asked(server)

    assert line == "POST /v1/webhooks HTTP/1.1"
    assert body["url"].endswith(f"/api/v1/webhooks/{host.slug}")
    assert body["secret"] == secrets_of(host, timezone.now())[0]
    assert {"agent.verified", "runOrchestrator.decided"} <= set(body["events"])
    assert "tenantId" not in body


def test_a_known_tenant_is_named_to_a_v1_host(host):
    with answering("201 Created", webhookId="w-1") as server:
        subscribe(host=connected(host, server.url, tenant="acme"), by="person:1")

        assert asked(server)[1]["tenantId"] == "acme"


def test_a_v2_host_is_asked_by_its_own_names(host):
    with answering("201 Created", webhookId="acme/w-1") as server:
        connected(host, server.url, protocol_major=2, tenant="acme")
        subscribe(host=host, by="person:1")
        unsubscribe(host=host, by="person:1")

        line, body = asked(server)
        assert line == "POST /webhooks HTTP/1.1"
        assert "orchestrator.decided" in body["events"]
        assert "runOrchestrator.decided" not in body["events"]
        assert "tenantId" not in body
        assert asked(server, 1)[0] == "DELETE /webhooks/acme~2Fw-1 HTTP/1.1"


def test_a_secret_that_the_host_chooses_comes_into_force_beside_ours(host):
    (ours,) = secrets_of(host, timezone.now())
    with answering("201 Created", webhookId="w-1", secret=CHOSEN) as server:
        subscribe(host=connected(host, server.url), by="person:1")

    host.refresh_from_db()
    assert secrets_of(host, timezone.now()) == [CHOSEN, ours]


@pytest.mark.parametrize(
    "said", [{"secret": "short"}, {"secretFingerprint": fingerprint_of("another")}], ids=str
)
def test_a_secret_that_proves_nothing_is_not_taken_and_the_subscription_ends(host, said):
    before = secrets_of(host, timezone.now())
    with answering("201 Created", webhookId="w-1", **said) as server:
        with pytest.raises(NotSubscribed):
            subscribe(host=connected(host, server.url), by="person:1")

        assert asked(server, 1)[0] == "DELETE /v1/webhooks/w-1 HTTP/1.1"
    assert secrets_of(host, timezone.now()) == before
    assert not WebhookSubscription.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        ("404 Not Found", "not_found", "takes no subscriptions. Register by hand"),
        ("405 Method Not Allowed", "", "takes no subscriptions"),
        ("501 Not Implemented", "capability_not_provided", "takes no subscriptions"),
        ("403 Forbidden", "tenant_membership_required", "webhooks:manage"),
        ("401 Unauthorized", "unauthenticated", "webhooks:manage"),
        ("400 Bad Request", "webhook_url_rejected", "OPENWOP_CONSOLE_URL"),
        ("500 Oops", "internal_error", "answered 500 internal_error"),
        ("302 Found", "", "answered 302"),
    ],
)
def test_a_refusal_is_said_with_what_to_do(host, status, code, words):
    with (
        answering(status, error=code, message="SECRET WORDS") as server,
        pytest.raises(NotSubscribed) as refused,
    ):
        subscribe(host=connected(host, server.url), by="person:1")

    assert words in str(refused.value)
    assert "SECRET WORDS" not in str(refused.value)
    assert not WebhookSubscription.objects.exists()


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"webhookId": 7}', b"\xff"], ids=repr)
def test_an_answer_without_an_id_is_no_subscription(host, body):
    with serving(http("201 Created", body)) as server, pytest.raises(NotSubscribed):
        subscribe(host=connected(host, server.url), by="person:1")

    assert not WebhookSubscription.objects.exists()


def test_subscribing_anew_ends_the_subscription_before(host):
    with answering("201 Created", webhookId="w-1") as server:
        subscribe(host=connected(host, server.url), by="person:1")
    with answering("201 Created", webhookId="w-2") as server:
        subscribe(host=connected(host, server.url), by="person:1")

        assert asked(server, 1)[0] == "DELETE /v1/webhooks/w-1 HTTP/1.1"
    assert WebhookSubscription.objects.get().webhook_id == "w-2"


def test_a_host_without_an_address_is_not_asked(host):
    with pytest.raises(NotSubscribed, match="does not know where"):
        subscribe(host=host, by="person:1")
    with pytest.raises(NotSubscribed):
        unsubscribe(host=host, by="person:1")


def test_an_address_inside_is_not_asked(host, settings):
    with answering("201 Created", webhookId="w-1") as server:
        settings.ALLOW_PRIVATE = []
        with pytest.raises(NotSubscribed, match="OPENWOP_CONSOLE_ALLOW_PRIVATE"):
            subscribe(host=connected(host, server.url), by="person:1")

        assert server.connections == 0
