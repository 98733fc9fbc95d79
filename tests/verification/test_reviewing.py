"""Several people, second thoughts, time that runs out: how a decision comes about."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runs.actions.people import grant
from runs.models import Event, Role
from tests.factories import decided, event, person, send, verified
from verification.actions import escalations, timeouts
from verification.actions.queues import default_queue
from verification.domain.decisions import Action, Decision
from verification.domain.refusals import (
    AlreadyReviewed,
    ConflictOfInterest,
    NotEligible,
    UndoTooLate,
)
from verification.models import (
    AuditEntry,
    Delivery,
    Escalation,
    Gate,
    Notification,
    Queue,
    Resolution,
    Vote,
)
from verification.queries.reviewing import reviews_shown

pytestmark = pytest.mark.django_db

OVERRIDE = Decision(Action.OVERRIDE, reason="Checked by hand.")
UPHOLD = Decision(Action.UPHOLD)
ACCEPT = Decision(Action.ACCEPT)


def pause(sequence: int, **payload) -> dict:
    asked = {"kind": "approval", "interruptId": "i-1", "actions": ["accept", "reject", "ask"]}
    return event(sequence, "node.suspended", nodeId="review", payload={**asked, **payload})


@pytest.fixture
def failed(host) -> Escalation:
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    return Escalation.objects.get()


@pytest.fixture
def lead(host):
    user = person("lea")
    grant(user=user, workspace=host.workspace, role=Role.ADMIN)
    return user


@pytest.fixture
def queue(host) -> Queue:
    return default_queue(host.workspace_id)


def changed(queue: Queue, **values) -> Queue:
    for name, value in values.items():
        setattr(queue, name, value)
    queue.save()
    return queue


def say(found: Escalation, by, decision: Decision):
    taken = escalations.claim(escalation=found.pk, by=by)
    seen = escalations.view_of(taken)
    return escalations.resolve(escalation=found.pk, by=by, decision=decision, seen=seen)


class TestSeveralReviews:
    def test_the_first_say_decides_nothing_and_shows_to_nobody(self, failed, queue, ada, ben):
        changed(queue, required_reviews=2)
        assert isinstance(say(failed, ada, OVERRIDE), Vote)

        failed.refresh_from_db()
        assert failed.state == "open"
        assert not Resolution.objects.exists()
        assert reviews_shown(failed, ben) == ()
        assert [each.by for each in reviews_shown(failed, ada)] == ["ada"]
        said = [*Event.objects.filter(type="console.escalation.voted").values_list("payload")]
        assert "override" not in str(said) + str(list(AuditEntry.objects.values_list("detail")))

    def test_two_who_agree_decide(self, failed, queue, ada, ben):
        changed(queue, required_reviews=2)
        say(failed, ada, OVERRIDE)
        resolution = say(failed, ben, OVERRIDE)

        assert isinstance(resolution, Resolution)
        assert Gate.objects.get().state == "overridden"

    def test_nobody_speaks_twice(self, failed, queue, ada):
        changed(queue, required_reviews=2)
        say(failed, ada, OVERRIDE)

        with pytest.raises(AlreadyReviewed):
            escalations.claim(escalation=failed.pk, by=ada)

    def test_two_who_differ_leave_it_to_a_lead_alone(self, failed, queue, ada, ben, lead, host):
        changed(queue, required_reviews=2)
        say(failed, ada, OVERRIDE)
        say(failed, ben, UPHOLD)

        failed.refresh_from_db()
        assert failed.handed_to_lead_at is not None
        dora = person("dora")
        grant(user=dora, workspace=host.workspace, role=Role.REVIEWER)
        with pytest.raises(NotEligible):
            escalations.claim(escalation=failed.pk, by=dora)
        assert say(failed, lead, UPHOLD).action == "uphold"
        assert Gate.objects.get().state == "upheld"

    def test_an_override_takes_effect_only_when_a_second_person_says_so(
        self, failed, queue, ada, ben
    ):
        changed(queue, second_person_for=["override"])
        say(failed, ada, OVERRIDE)
        assert Gate.objects.get().state == "blocked"

        say(failed, ben, OVERRIDE)
        assert Gate.objects.get().state == "overridden"

    def test_an_upheld_fail_needs_no_second_person(self, failed, queue, ada):
        changed(queue, second_person_for=["override"])

        assert isinstance(say(failed, ada, UPHOLD), Resolution)

    def test_the_hosts_own_quorum_gets_every_vote(self, host, ada, ben):
        send(host, event(0, "run.started"), pause(1, requiredApprovals=2))
        found = Escalation.objects.get()

        assert isinstance(say(found, ada, ACCEPT), Vote)
        assert isinstance(say(found, ben, ACCEPT), Resolution)
        assert Delivery.objects.count() == 2
        bodies = {bytes(each.content.body) for each in Delivery.objects.all()}
        assert len(bodies) == 2  # each in the name of its own voter


class TestConflicts:
    def test_whoever_started_the_run_does_not_let_its_result_through(self, host, ada):
        started = event(0, "run.started", payload={"initiator": {"username": "ADA"}})
        send(host, started, decided(1), verified(2, "r-1-e1", "fail"))
        found = Escalation.objects.get()

        with pytest.raises(ConflictOfInterest):
            say(found, ada, OVERRIDE)
        assert say(found, ada, UPHOLD).action == "uphold"

    def test_a_queue_may_allow_it(self, host, ada, queue):
        changed(queue, bars_conflicts=False)
        started = event(0, "run.started", payload={"startedBy": "ada"})
        send(host, started, decided(1), verified(2, "r-1-e1", "fail"))

        assert say(Escalation.objects.get(), ada, OVERRIDE).action == "override"


class TestSecondThoughts:
    def test_a_decision_is_taken_back_in_time(self, failed, ada):
        say(failed, ada, OVERRIDE)
        escalations.undo(escalation=failed.pk, by=ada)

        failed.refresh_from_db()
        assert (failed.state, failed.claimed_by) == ("claimed", ada)
        assert Gate.objects.get().state == "in_review"
        assert not Resolution.objects.exists()
        assert say(failed, ada, UPHOLD).action == "uphold"

    def test_nothing_of_it_is_left_in_the_outbox(self, host, ada):
        send(host, event(0, "run.started"), pause(1))
        found = Escalation.objects.get()
        say(found, ada, ACCEPT)
        escalations.undo(escalation=found.pk, by=ada)

        assert not Delivery.objects.exists()
        actions = AuditEntry.objects.order_by("seq").values_list("action", flat=True)
        assert list(actions)[-2:] == ["escalation.resolved", "escalation.undone"]

    def test_what_has_left_is_not_taken_back(self, host, ada):
        send(host, event(0, "run.started"), pause(1))
        found = Escalation.objects.get()
        say(found, ada, ACCEPT)
        Delivery.objects.update(attempts=1)

        with pytest.raises(UndoTooLate):
            escalations.undo(escalation=found.pk, by=ada)

    def test_after_five_seconds_it_stands(self, failed, ada):
        resolution = say(failed, ada, OVERRIDE)

        with pytest.raises(UndoTooLate):
            escalations.undo(escalation=failed.pk, by=ada, now=resolution.at + timedelta(seconds=5))

    def test_nobody_takes_back_what_another_decided(self, failed, ada, ben):
        say(failed, ada, OVERRIDE)

        with pytest.raises(Exception, match="already decided"):
            escalations.undo(escalation=failed.pk, by=ben)


class TestTurns:
    def test_a_question_to_the_host_leaves_the_pause_and_the_claim(self, host, ada):
        send(host, event(0, "run.started"), pause(1))
        found = Escalation.objects.get()
        say(found, ada, Decision(Action.ASK, feedback="Which policy?"))

        found.refresh_from_db()
        assert (found.state, found.claimed_by) == ("claimed", ada)
        delivery = Delivery.objects.get()
        assert (delivery.resolution, delivery.comment.kind) == (None, "ask")

    def test_the_hosts_answer_proves_the_turn_and_not_the_decision(self, host, ada):
        send(host, event(0, "run.started"), pause(1))
        found = Escalation.objects.get()
        say(found, ada, Decision(Action.ASK, feedback="Which policy?"))
        Delivery.objects.update(attempts=1, state="accepted")
        answered = {"interruptId": "i-1", "action": "ask"}
        send(host, event(2, "approval.received", nodeId="review", payload=answered))

        assert Delivery.objects.get().effect_kind == "replied"
        assert Escalation.objects.get().state == "claimed"

    def test_who_cannot_decide_passes_it_on_with_a_note(self, failed, ada):
        say(failed, ada, Decision(Action.CANNOT_DECIDE, reason="CANARY-7 not my field"))

        failed.refresh_from_db()
        assert failed.state == "open"
        assert failed.comments.get().kind == "cannot_decide"
        assert "CANARY" not in str(list(Event.objects.values())) + str(
            list(AuditEntry.objects.values())
        )


class TestTime:
    def late(self, found):
        return found.due_at + timedelta(seconds=1)

    def test_a_queue_that_keeps_waiting_does_nothing(self, failed):
        assert timeouts.pass_one(escalation=failed.pk, now=self.late(failed)) is None

    def test_a_queue_that_escalates_asks_a_lead_once(self, failed, queue, lead):
        changed(queue, on_timeout="escalate")
        for _ in range(2):
            timeouts.pass_due(self.late(failed))

        told = Notification.objects.filter(kind="handed_to_lead")
        assert [each.user for each in told] == [lead]
        entry = AuditEntry.objects.get()
        assert (entry.actor, entry.action) == ("system:timeout", "escalation.handed_to_lead")

    def test_a_queue_that_fails_closed_says_no_and_says_that_nobody_said_it(self, host, queue):
        changed(queue, on_timeout="fail_closed")
        send(host, event(0, "run.started"), pause(1))
        found = Escalation.objects.get()
        timeouts.pass_due(self.late(found))

        found.refresh_from_db()
        assert (found.state, found.closed_because) == ("expired", "timeout")
        body = bytes(Delivery.objects.get().content.body)
        assert b'"action":"reject"' in body
        assert b'"decidedBy":"system:timeout"' in body

    def test_the_hosts_own_time_counts_where_it_is_shorter(self, host, queue, lead):
        changed(queue, on_timeout="escalate")
        send(host, event(0, "run.started"), pause(1, timeoutMs=60_000))
        found = Escalation.objects.get()

        assert found.due_at == found.opened_at + timedelta(seconds=60)
        timeouts.pass_due(found.due_at)
        assert Notification.objects.filter(kind="handed_to_lead", user=lead).exists()

    def test_a_pause_that_joins_later_brings_its_own_time(self, host, failed):
        before = failed.due_at
        suspended = pause(3, timeoutMs=60_000, target="r-1-e1")
        send(host, suspended)

        rows = list(Escalation.objects.waiting())
        joined = next(each for each in rows if each.interrupt)
        assert joined.due_at < before
        assert joined.due_at <= timezone.now() + timedelta(seconds=60)

    def test_what_expired_stays_shut_and_is_not_asked_again(self, host, failed, queue):
        changed(queue, on_timeout="fail_closed")
        timeouts.pass_due(self.late(failed))
        send(host, event(3, "log.appended"), verified(4, "other", "pass"))

        assert Gate.objects.get(target="r-1-e1").state == "blocked"
        assert Escalation.objects.count() == 1
        send(host, verified(5, "r-1-e1", "fail", critic="critic-2"))
        assert Escalation.objects.waiting().count() == 1

    def test_nobody_is_passed_over_who_holds_it(self, failed, queue, ada):
        changed(queue, on_timeout="fail_closed")
        late = self.late(failed)
        escalations.claim(escalation=failed.pk, by=ada, now=late - timedelta(minutes=1))

        assert timeouts.pass_one(escalation=failed.pk, now=late) is None


def test_a_closed_one_opens_nothing_and_comes_back_only_with_something_new(host, failed, lead):
    escalations.close(escalation=failed.pk, by=lead)
    send(host, verified(3, "other", "pass"))

    assert Gate.objects.get(target="r-1-e1").state == "blocked"
    assert not Escalation.objects.waiting().exists()


class TestQueues:
    def test_the_first_queue_that_wants_it_gets_it(self, host):
        base = {"workspace": host.workspace, "name": "-"}
        Queue.objects.create(slug="late", rank=9, **base)
        Queue.objects.create(slug="fails", rank=5, reasons=["fail"], **base)
        Queue.objects.create(slug="elsewhere", rank=1, hosts=["omega"], **base)
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))

        assert Escalation.objects.get().queue.slug == "fails"

    def test_a_queues_own_times_count(self, failed, host, queue, ada):
        changed(queue, lease_s=60, due_s=3600)
        before = timezone.now()
        claimed = escalations.claim(escalation=failed.pk, by=ada, now=before)

        assert claimed.claim_until == before + timedelta(seconds=60)

    def test_a_share_of_the_passes_is_looked_at(self, host, queue, ada):
        changed(queue, sample_percent=100)
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "pass"))
        found = Escalation.objects.get()
        assert found.reason == "audit_sample"

        say(found, ada, Decision(Action.DISPUTE, reason="It cites nothing."))
        send(host, verified(3, "other", "pass"))
        assert not Escalation.objects.waiting().filter(target="r-1-e1").exists()

    def test_a_sampled_pass_that_was_reversed_needs_no_sample(self, host, queue):
        changed(queue, sample_percent=100)
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "pass"))
        send(host, verified(3, "r-1-e1", "fail"))

        assert [e.reason for e in Escalation.objects.waiting()] == ["fail"]


def test_how_long_a_person_took_is_kept(failed, ada):
    start = timezone.now() + timedelta(seconds=90)
    taken = escalations.claim(escalation=failed.pk, by=ada, now=start)
    resolution = escalations.resolve(
        escalation=failed.pk,
        by=ada,
        decision=UPHOLD,
        seen=escalations.view_of(taken),
        now=start + timedelta(seconds=42),
    )

    assert resolution.seconds_to_decide == 42
    assert resolution.seconds_to_claim == pytest.approx(90, abs=5)
