"""The outbox beyond one decision: order, rests, the other doors, sending again, no effect seen."""

import hmac
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from runs.actions.hosts import connect_host
from runs.actions.people import grant
from runs.models import Event, Host, Role
from tests.factories import decided, event, person, send, verified
from tests.local_servers import http, serving
from verification.actions import deliveries, effects, escalations
from verification.actions.redrive import NotRedrivable, redrive
from verification.actions.review_webhooks import BadAddress, set_webhook
from verification.domain.decisions import Action, Decision
from verification.domain.refusals import NotAllowed
from verification.models import AuditEntry, Delivery, Escalation, HostRest, Notification

pytestmark = pytest.mark.django_db

ACCEPT = Decision(Action.ACCEPT)


def pause(sequence: int, node: str = "review") -> dict:
    asked = {"kind": "approval", "interruptId": f"i-{node}", "actions": ["accept", "reject", "ask"]}
    return event(sequence, "node.suspended", nodeId=node, payload=asked)


def say(found: Escalation, by, decision: Decision = ACCEPT):
    taken = escalations.claim(escalation=found.pk, by=by)
    seen = escalations.view_of(taken)
    return escalations.resolve(escalation=found.pk, by=by, decision=decision, seen=seen)


@pytest.fixture
def admin(host):
    user = person("root")
    grant(user=user, workspace=host.workspace, role=Role.ADMIN)
    return user


@pytest.fixture(autouse=True)
def no_undo(settings):
    settings.UNDO_S = 0


@pytest.fixture
def delivery(host, ada) -> Delivery:
    send(host, event(0, "run.started"), pause(1))
    say(Escalation.objects.get(), ada)
    return Delivery.objects.get()


def reach(host, server) -> None:
    connect_host(host_id=host.slug, base_url=server.url, api_key="k")


def attempt(delivery: Delivery) -> Delivery:
    deliveries.attempt(delivery=delivery.pk)
    delivery.refresh_from_db()
    return delivery


def again(delivery: Delivery) -> Delivery:
    Delivery.objects.filter(pk=delivery.pk).update(next_attempt_at=timezone.now())
    HostRest.objects.update(rests_until=None)
    return attempt(delivery)


def test_decisions_about_one_run_leave_in_the_order_in_which_they_were_made(host, ada):
    send(host, event(0, "run.started"), pause(1, "one"), pause(2, "two"))
    for found in Escalation.objects.order_by("pk"):
        say(found, ada)
    first, second = Delivery.objects.order_by("pk")

    with serving(http("500 Oops")) as server:
        reach(host, server)
        assert attempt(second).attempts == 0
        assert attempt(first).state == "waiting"
        assert attempt(second).attempts == 0
    with serving(http()) as server:
        reach(host, server)
        assert again(first).state == "accepted"
        assert attempt(second).state == "accepted"


def test_a_host_that_fails_five_times_is_left_alone_for_a_while(host, delivery):
    with serving(http("503 Down")) as server:
        reach(host, server)
        for _ in range(5):
            Delivery.objects.update(next_attempt_at=timezone.now())
            attempt(delivery)
        assert server.connections == 5
        rest = HostRest.objects.get()
        assert rest.rests_until > timezone.now()

        Delivery.objects.update(next_attempt_at=timezone.now())
        attempt(delivery)
        assert server.connections == 5
        assert delivery.next_attempt_at == rest.rests_until
        assert (delivery.attempts, delivery.state) == (5, "waiting")


def test_an_answer_of_any_kind_ends_the_rest(host, delivery):
    HostRest.objects.create(host=host, failures=7)
    with serving(http()) as server:
        reach(host, server)
        attempt(delivery)

    assert (HostRest.objects.get().failures, HostRest.objects.get().rests_until) == (0, None)


class TestTheTokenSurface:
    def host_without_run_surface(self, *, token: str = "t-1", interrupt: str = "i-review"):
        def answer(connection, request, over):
            line = request.split(b"\r\n", 1)[0].decode()
            if line.startswith("POST /v1/interrupts/t-1 "):
                status, body = "200 OK", {}
            elif line.startswith("POST"):
                status, body = "405 Method Not Allowed", {}
            elif "/events/poll" in line:
                status, body = "200 OK", {"events": []}
            else:
                pause = {"nodeId": "review", "interruptId": interrupt, "interruptToken": token}
                status, body = "200 OK", {"interrupt": pause}
            http(status, json.dumps(body).encode())(connection, request, over)

        return answer

    def test_takes_the_same_bytes_where_the_run_has_no_surface(self, host, delivery):
        with serving(self.host_without_run_surface()) as server:
            reach(host, server)
            assert attempt(delivery).state == "accepted"
            posts = [each for each in server.requests if each.startswith(b"POST")]

        assert len(posts) == 2
        assert {each.partition(b"\r\n\r\n")[2] for each in posts} == {bytes(delivery.content.body)}
        assert b"Authorization" not in posts[1]

    def test_is_not_used_for_another_pause_of_the_same_node(self, host, delivery):
        with serving(self.host_without_run_surface(interrupt="i-another")) as server:
            reach(host, server)
            assert attempt(delivery).state == "undeliverable"
            assert not any(b"/v1/interrupts/" in each for each in server.requests)

    def test_its_token_is_kept_nowhere(self, host, delivery):
        with serving(self.host_without_run_surface(token="CANARY-token")) as server:
            reach(host, server)
            attempt(delivery)

        kept = [*Event.objects.values(), *Delivery.objects.values(), *AuditEntry.objects.values()]
        assert "CANARY" not in str(kept)


class TestTheWebhook:
    def decide(self, host, ada):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        decision = Decision(Action.OVERRIDE, reason="CANARY-5", feedback="Agreed.")
        found = Escalation.objects.get()
        say(found, ada, Decision(Action.OVERRIDE, reason=decision.reason))
        return Delivery.objects.get()

    def test_tells_a_host_that_does_not_wait_and_signs_it_twice(self, host, ada, admin):
        with serving(http()) as server:
            secret = set_webhook(host=host, url=f"{server.url}/hook", by=admin)
            assert attempt(self.decide(host, ada)).state == "delivered"
            (request,) = server.requests

        head, _, body = request.partition(b"\r\n\r\n")
        sent = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        headers = {name.decode().lower(): value.decode() for name, value in sent.items()}
        signed = f"{headers['openwop-timestamp']}.".encode() + body
        proof = hmac.new(secret.encode(), signed, "sha256").hexdigest()
        assert headers["openwop-signature"] == f"sha256={proof}"
        assert headers["webhook-signature"].startswith("v1,")
        document = json.loads(body)
        assert (document["type"], document["data"]["decision"]) == ("review.resolved", "pass")
        assert b"CANARY" not in body

    def test_the_same_delivery_keeps_its_id_over_attempts(self, host, ada, admin):
        with serving(http("500 Oops")) as server:
            set_webhook(host=host, url=f"{server.url}/hook", by=admin)
            delivery = self.decide(host, ada)
            again(delivery)
            again(delivery)
            ids = [line for each in server.requests for line in each.split(b"\r\n")
                   if line.lower().startswith(b"webhook-id")]  # fmt: skip

        assert len(ids) == 2
        assert len(set(ids)) == 1

    def test_a_host_that_has_none_is_sent_nothing(self, host, ada):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        say(Escalation.objects.get(), ada, Decision(Action.UPHOLD))

        assert not Delivery.objects.exists()

    def test_an_address_that_is_none_is_refused_at_once(self, host, admin):
        with pytest.raises(BadAddress):
            set_webhook(host=host, url="https://user:pass@evil.example/", by=admin)

    def test_a_reviewer_sets_none(self, host, ada):
        with pytest.raises(Exception, match="Only an admin"):
            set_webhook(host=host, url="https://host.example/", by=ada)


class TestSendingAgain:
    @pytest.mark.parametrize("state", ["dead", "stopped", "undeliverable"])
    def test_a_person_has_the_same_bytes_sent_again(self, host, delivery, ada, state):
        Delivery.objects.update(state=state, next_attempt_at=None, attempts=9)
        redrive(delivery=delivery.pk, by=ada)

        with serving(http()) as server:
            reach(host, server)
            assert attempt(delivery).state == "accepted"
            assert server.requests[0].endswith(bytes(delivery.content.body))
        assert AuditEntry.objects.last().action == "delivery.redriven"

    @pytest.mark.parametrize("state", ["waiting", "sending", "accepted", "superseded"])
    def test_what_is_on_its_way_or_arrived_is_not(self, delivery, ada, state):
        Delivery.objects.update(state=state)

        with pytest.raises(NotRedrivable):
            redrive(delivery=delivery.pk, by=ada)

    def test_a_viewer_sends_nothing(self, delivery, cy):
        Delivery.objects.update(state="dead")

        with pytest.raises(NotAllowed):
            redrive(delivery=delivery.pk, by=cy)

    def test_seven_days_start_anew(self, host, delivery, ada):
        Delivery.objects.update(
            state="dead", created_at=timezone.now() - timedelta(days=8), next_attempt_at=None
        )
        redrive(delivery=delivery.pk, by=ada)
        with serving(http("500 Oops")) as server:
            reach(host, server)
            assert attempt(delivery).state == "waiting"


def test_a_credential_is_answered_by_its_outcome_alone_on_a_host_of_the_second_major(host, ada):
    Host.objects.filter(pk=host.pk).update(protocol_major=2)
    asked = {
        "kind": "credential", "provider": "mail", "scopes": ["read"], "reason": "To read it.",
        "connectUrl": "https://host.example/connect",
        "resumeSchema": {"properties": {"token": {"type": "string"}}},
    }  # fmt: skip
    pause_ = event(1, "interrupt.requested", nodeId="connect", payload=asked)
    send(host, event(0, "run.started"), pause_)
    say(Escalation.objects.get(), ada, Decision(Action.AUTHORIZED))
    found = Delivery.objects.get()

    with serving(http()) as server:
        reach(host, server)
        assert attempt(found).state == "accepted"
        head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /runs/r-1/interrupts/connect ")
    assert json.loads(body) == {"resumeValue": {"outcome": "authorized"}}


def test_people_are_told_once_of_what_does_not_arrive(host, delivery, ada, ben):
    with serving(http("400 No")) as server:
        reach(host, server)
        assert attempt(delivery).state == "undeliverable"

    told = Notification.objects.filter(kind="not_delivered")
    assert {each.user.username for each in told} == {"ada", "ben"}


def test_people_are_told_once_of_a_host_that_accepted_and_did_nothing(host, delivery, ada):
    with serving(http()) as server:
        reach(host, server)
        attempt(delivery)
    effects.tell_of_missing_effects(timezone.now() + timedelta(minutes=9))
    assert not Notification.objects.filter(kind="no_effect").exists()

    for _ in range(2):
        effects.tell_of_missing_effects(timezone.now() + timedelta(minutes=11))
    assert Notification.objects.filter(kind="no_effect", user=ada).count() == 1
    assert Event.objects.filter(type="console.delivery.no_effect").count() == 1
