"""What people do with escalations, against a real PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from runs.models import Event
from tests.factories import decided, event, person, run_of, send, verified
from verification.actions import escalations
from verification.domain.decisions import Action, Decision
from verification.domain.refusals import (
    AlreadyClaimed,
    AlreadyResolved,
    ClaimLapsed,
    NotAllowed,
    NotClaimed,
    StaleView,
)
from verification.domain.resume import NotOffered
from verification.models import AuditEntry, Content, Delivery, Escalation, Gate, Resolution

OVERRIDE = Decision(Action.OVERRIDE, reason="Checked by hand.")
UPHOLD = Decision(Action.UPHOLD)


@pytest.fixture
def failed(host) -> Escalation:
    """An escalation about a failed result of a run that does not wait."""
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    return Escalation.objects.get()


@pytest.fixture
def waiting(host) -> Escalation:
    """The same, and the host waits at an approval."""
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"), pause(3))
    return Escalation.objects.get()


def pause(sequence: int, node: str = "review", **payload) -> dict:
    asked = {"kind": "approval", "interruptId": "i-1", "actions": ["accept", "reject", "refine"]}
    more = {"payload": {**asked, **payload}, "causationId": f"r-1-e{sequence - 1}"}
    return event(sequence, "node.suspended", nodeId=node, **more)


def resolve(escalation, by, decision=OVERRIDE, seen=None):
    seen = seen or escalations.view_of(Escalation.objects.get(pk=escalation.pk))
    return escalations.resolve(escalation=escalation.pk, by=by, decision=decision, seen=seen)


@pytest.mark.django_db
class TestClaiming:
    def test_a_claim_shows_on_the_gate_and_in_the_log(self, host, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)

        assert Gate.objects.get().state == "in_review"
        line = Event.objects.get(type="console.escalation.claimed")
        assert line.payload["by"] == "ada"
        assert AuditEntry.objects.get().action == "escalation.claimed"

    def test_the_second_reviewer_is_told_who_was_first_and_until_when(self, failed, ada, ben):
        escalations.claim(escalation=failed.pk, by=ada)
        with pytest.raises(AlreadyClaimed) as refused:
            escalations.claim(escalation=failed.pk, by=ben)

        assert refused.value.by == "ada"
        assert refused.value.until > timezone.now()

    def test_a_released_escalation_can_be_claimed_by_somebody_else(self, failed, ada, ben):
        escalations.claim(escalation=failed.pk, by=ada)
        escalations.release(escalation=failed.pk, by=ada)

        assert Gate.objects.get().state == "blocked"
        assert escalations.claim(escalation=failed.pk, by=ben).claimed_by == ben

    def test_a_claim_ends_by_itself(self, failed, ada, ben):
        escalations.claim(escalation=failed.pk, by=ada)
        later = timezone.now() + timedelta(hours=1)

        assert escalations.lapse(escalation=failed.pk, now=later)
        assert Escalation.objects.get().state == "open"
        assert not escalations.lapse(escalation=failed.pk, now=later)

    def test_an_extended_claim_does_not_lapse_at_its_first_end(self, failed, ada):
        claimed = escalations.claim(escalation=failed.pk, by=ada)
        just_before = claimed.claim_until - timedelta(seconds=1)
        escalations.extend(escalation=failed.pk, by=ada, now=just_before)

        assert not escalations.lapse(escalation=failed.pk, now=claimed.claim_until)

    def test_a_viewer_claims_nothing(self, failed, cy):
        with pytest.raises(NotAllowed):
            escalations.claim(escalation=failed.pk, by=cy)

    def test_a_person_of_another_tenant_claims_nothing(self, failed):
        with pytest.raises(NotAllowed):
            escalations.claim(escalation=failed.pk, by=person("mallory"))


@pytest.mark.django_db
class TestResolving:
    def test_an_override_opens_the_gate_and_is_audited(self, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        resolve(failed, ada)

        assert Gate.objects.get().state == "overridden"
        assert Escalation.objects.get().state == "resolved"
        assert AuditEntry.objects.order_by("seq").last().detail["action"] == "override"

    def test_an_upheld_fail_stays_shut(self, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        resolve(failed, ada, UPHOLD)

        assert Gate.objects.get().state == "upheld"

    def test_only_the_holder_decides(self, failed, ada, ben):
        with pytest.raises(NotClaimed):
            resolve(failed, ada)
        escalations.claim(escalation=failed.pk, by=ada)
        with pytest.raises(AlreadyClaimed):
            resolve(failed, ben)

        assert not Resolution.objects.exists()

    def test_a_decision_after_the_claim_ran_out_is_refused(self, failed, ada):
        claimed = escalations.claim(escalation=failed.pk, by=ada)
        with pytest.raises(ClaimLapsed):
            escalations.resolve(
                escalation=failed.pk,
                by=ada,
                decision=OVERRIDE,
                seen=escalations.view_of(claimed),
                now=claimed.claim_until,
            )

    def test_a_decision_is_made_once(self, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        resolve(failed, ada, UPHOLD)
        with pytest.raises(AlreadyResolved):
            resolve(failed, ada)

        assert Resolution.objects.get().action == "uphold"

    def test_a_decision_about_what_has_changed_since_is_refused(self, host, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        seen = escalations.view_of(Escalation.objects.get())
        send(host, verified(3, "r-1-e1", "fail", critic="critic-2"))
        with pytest.raises(StaleView) as refused:
            resolve(failed, ada, seen=seen)

        assert "verdicts" in refused.value.changed

    def test_lines_that_do_not_touch_the_matter_make_nothing_stale(self, host, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        seen = escalations.view_of(Escalation.objects.get())
        send(host, event(3, "log.appended"))

        assert resolve(failed, ada, seen=seen).action == "override"

    def test_a_fail_that_came_after_an_override_is_not_overridden_by_it(self, host, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        resolve(failed, ada)
        send(host, verified(3, "r-1-e1", "fail", critic="critic-2"))

        assert Gate.objects.get().state == "blocked"
        assert Escalation.objects.waiting().count() == 1

    def test_what_is_not_offered_is_refused(self, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        with pytest.raises(NotOffered):
            resolve(failed, ada, Decision(Action.ACCEPT))

    def test_a_run_that_does_not_wait_is_sent_nothing(self, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        resolve(failed, ada)

        assert not Delivery.objects.exists()

    def test_a_waiting_run_gets_frozen_bytes_in_the_outbox(self, waiting, ada):
        escalations.claim(escalation=waiting.pk, by=ada)
        resolve(waiting, ada)

        delivery = Delivery.objects.get()
        assert (delivery.node_id, delivery.state) == ("review", "waiting")
        assert bytes(delivery.content.body).startswith(b'{"resumeValue":{"action":"accept"')
        assert delivery.content.sha256 == delivery.sha256

    def test_what_a_person_wrote_is_in_the_restricted_zone_only(self, waiting, ada):
        escalations.claim(escalation=waiting.pk, by=ada)
        feedback = Decision(Action.SEND_BACK, feedback="CANARY-91 please cite the policy")
        resolve(waiting, ada, feedback)

        said = " ".join(
            str(row)
            for model in (Event, AuditEntry, Delivery, Escalation)
            for row in model.objects.values()
        )
        assert "CANARY" not in said
        assert any(b"CANARY-91" in bytes(row.body) for row in Content.objects.all())


@pytest.mark.django_db
class TestClosing:
    def test_the_run_answered_elsewhere_makes_it_moot(self, host, ada):
        send(host, event(0, "run.started"), pause(1))
        send(host, event(2, "node.resumed", nodeId="review", payload={"interruptId": "i-1"}))

        row = Escalation.objects.get()
        assert (row.state, row.closed_because) == ("moot", "interrupt_closed")

    def test_a_cancelled_run_needs_nobody(self, host, failed):
        send(host, event(3, "run.cancelled"))

        assert Escalation.objects.get().closed_because == "run_cancelled"

    def test_a_new_result_in_place_of_the_failed_one_needs_nobody(self, host, failed):
        send(host, decided(3), verified(4, "r-1-e3", "pass"))

        assert Escalation.objects.get().closed_because == "target_superseded"

    def test_a_claimed_one_that_became_moot_has_no_holder(self, host, failed, ada):
        escalations.claim(escalation=failed.pk, by=ada)
        send(host, event(3, "run.cancelled"))

        row = Escalation.objects.get()
        assert (row.state, row.claim_until) == ("moot", None)
        with pytest.raises(Exception, match="moot"):
            resolve(failed, ada)

    def test_one_pause_told_twice_is_one_request(self, host):
        unsure = {"agentId": "a-1", "decision": {}, "confidence": 0.5}
        low = {"reason": "low-confidence", "agentId": "a-1", "threshold": 0.7, "observed": 0.5}
        send(
            host,
            event(1, "agent.decided", nodeId="n1", payload=unsure),
            event(2, "node.suspended", nodeId="n1", payload=low),
            event(3, "node.suspended", nodeId="n1", payload={"interruptId": "i", "kind": "x"}),
        )

        assert Escalation.objects.waiting().count() == 1

    def test_a_held_run_asks_a_person_who_can_release_it(self, host, ada):
        send(host, event(0, "run.started"), verified(1, "x", "fail", result="leak"))
        row = Escalation.objects.get()
        assert (row.reason, run_of(host).held) == ("held", True)

        escalations.claim(escalation=row.pk, by=ada)
        resolve(row, ada, Decision(Action.RELEASE_HOLD, reason="It was a pass, says the host."))
        assert not run_of(host).held


@pytest.mark.django_db(transaction=True)
def test_of_twenty_who_claim_at_once_one_wins_and_nineteen_are_told_who(host, failed):
    from runs.actions.people import grant
    from runs.models import Role

    crowd = [person(f"reviewer-{number}") for number in range(20)]
    for each in crowd:
        grant(user=each, workspace=host.workspace, role=Role.REVIEWER)

    def try_it(user):
        try:
            return escalations.claim(escalation=failed.pk, by=user).claimed_by.username
        except AlreadyClaimed as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        outcomes = list(pool.map(try_it, crowd))
    winners = [each for each in outcomes if isinstance(each, str)]
    losers = [each for each in outcomes if isinstance(each, AlreadyClaimed)]
    assert len(winners) == 1
    assert {each.by for each in losers} == set(winners)
    assert len(losers) == 19
    assert AuditEntry.objects.count() == 1
