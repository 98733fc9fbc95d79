"""Nobody is accused falsely: what is late, missing, unsure or another's never makes a violation."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from runs.actions.hosts import advertise
from runs.models import CapabilitySnapshot, Event
from tests.factories import (
    add_host_named,
    capabilities,
    decided,
    event,
    run_of,
    send,
    verified,
)
from verification.actions import escalations
from verification.actions.judge import judge_again
from verification.actions.resolving import resolve
from verification.domain.decisions import Action, Decision
from verification.models import Escalation, Finding, Judgement
from verification.situations import view_of
from verification.sweeping import sweep

pytestmark = pytest.mark.django_db

FAILED = [event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail")]
END = event(9, "run.completed")


def rest(*events):
    """Fill a log up to the end, so that nothing is missing."""
    held = {each["sequence"] for each in (*FAILED, *events)}
    return [*events, *(event(at) for at in range(9) if at not in held), END]


def severities(run="r-1", **more):
    found = Finding.objects.filter(run__run_id=run, status="standing", **more)
    return dict(found.exclude(severity="soft").values_list("kind", "severity"))


def test_a_success_after_a_fail_is_a_violation_when_everything_is_known(host):
    send(host, *FAILED, *rest())

    assert severities() == {"success_after_fail": "violation"}


@pytest.mark.parametrize(
    "late",
    [
        [verified(3, "r-1-e1", "pass")],
        [decided(3), verified(4, "r-1-e3", "pass")],
        [event(3, "approval.overridden", payload={"gateId": "r-1-e1"})],
        [event(3, "runOrchestrator.decided", payload={"decision": {
            "kind": "terminate", "successCriteria": [{"key": "a", "met": False}]}})],
    ],
    ids=["the verifier took it back", "a new turn passed", "the host's person", "it gave up"],
)  # fmt: skip
def test_what_arrives_late_clears_the_host_and_nothing_was_a_violation_meanwhile(host, late):
    everything = rest(*late)
    sequences = {each["sequence"] for each in late}
    send(host, *FAILED, *(each for each in everything if each["sequence"] not in sequences))
    assert severities() == {"success_after_fail": "not_provable"}

    send(host, *late)
    assert severities() == {}
    withdrawn = Finding.objects.get(kind="success_after_fail")
    assert withdrawn.status == "withdrawn"
    assert "The missing events arrived: 3" in withdrawn.withdrawn_because
    assert not Event.objects.filter(
        type="console.finding.noted", payload__severity="violation"
    ).exists()


def test_a_gap_that_closes_harmlessly_makes_it_a_violation(host):
    everything = rest()
    send(host, *FAILED, *(each for each in everything if each["sequence"] not in (4, 5)))
    found = Finding.objects.get(kind="success_after_fail")
    assert (found.severity, found.missing) == ("not_provable", [[4, 5]])

    send(host, event(4))
    found.refresh_from_db()
    assert (found.severity, found.missing) == ("not_provable", [[5, 5]])

    send(host, event(5))
    found.refresh_from_db()
    assert (found.severity, found.missing, found.status) == ("violation", [], "standing")


def test_a_fail_that_was_given_after_the_end_accuses_nobody(host):
    send(host, *FAILED, *rest(verified(3, "r-1-e1", "pass")))
    send(host, verified(10, "r-1-e1", "fail"))

    assert severities() == {}
    assert run_of(host).worst_finding == "soft"


def test_a_finding_that_was_withdrawn_can_come_back(host):
    everything = rest()
    send(host, *FAILED, *everything)
    CapabilitySnapshot.objects.all().delete()
    judge_again(run=run_of(host).pk)
    assert severities() == {"success_after_fail": "advisory"}

    Finding.objects.update(status="withdrawn", withdrawn_at=timezone.now(), withdrawn_because="x")
    judge_again(run=run_of(host).pk)
    found = Finding.objects.get(kind="success_after_fail")
    assert (found.status, found.withdrawn_because, found.withdrawn_at) == ("standing", "", None)


@pytest.mark.parametrize(
    ("gating", "severity"), [(True, "violation"), (False, "advisory"), (None, "advisory")]
)
def test_only_a_host_that_promised_can_break_a_promise(db, gating, severity):
    host = add_host_named("beta", workspace="acme", gating=gating)
    send(host, *FAILED, *rest())

    assert severities() == {"success_after_fail": severity}


def test_of_two_hosts_with_one_run_id_each_answers_for_itself(host, other_host):
    send(host, *FAILED, *rest())
    send(other_host, *FAILED[:2], verified(2, "r-1-e1", "pass"), *rest())

    assert severities(run__host=host) == {"success_after_fail": "violation"}
    assert severities(run__host=other_host) == {}
    assert run_of(other_host).worst_finding == ""


def test_a_target_that_names_an_agent_proves_nothing(host):
    send(host, *FAILED[:2], verified(2, "worker-1", "fail"), *rest())

    assert severities() == {"success_after_fail": "suspected"}


def test_what_cannot_be_read_might_have_cleared_it(host):
    send(host, *FAILED, *rest(event(3, "agent.verifed")))

    assert severities() == {"success_after_fail": "suspected"}


def test_a_persons_override_made_before_the_end_clears_the_host(host, ada):
    send(host, *FAILED)
    found = Escalation.objects.get()
    escalations.claim(escalation=found.pk, by=ada)
    found.refresh_from_db()
    decision = Decision(Action.OVERRIDE, reason="Checked.")
    resolve(escalation=found.pk, by=ada, decision=decision, seen=view_of(found))
    send(host, *rest())

    assert severities() == {}


def test_a_persons_override_made_after_the_end_does_not(host, ada):
    send(host, *FAILED, *rest())
    found = Escalation.objects.get()
    escalations.claim(escalation=found.pk, by=ada)
    found.refresh_from_db()
    decision = Decision(Action.OVERRIDE, reason="Checked.")
    resolve(escalation=found.pk, by=ada, decision=decision, seen=view_of(found))

    assert severities() == {"success_after_fail": "violation"}


class TestWhatTheHostAdvertised:
    """The events of these runs happen at 08:00:00 and the seconds after."""

    NOON = datetime(2026, 11, 30, 8, 0, 2, 500_000, tzinfo=UTC)
    """Between the verdict and the end."""

    def changed(self, before, after):
        """A host that advertised one thing until between verdict and end, then another."""
        host = add_host_named("beta", workspace="acme", gating=before)
        advertise(host=host, document=capabilities(after))
        first, second = CapabilitySnapshot.objects.filter(host=host).order_by("pk")
        first.valid_from, first.valid_to = self.NOON - timedelta(days=1), self.NOON
        first.save()
        second.valid_from = self.NOON
        second.save()
        return host

    @pytest.mark.parametrize(("before", "after"), [(True, False), (False, True)])
    def test_a_promise_that_did_not_hold_throughout_is_no_promise(self, db, before, after):
        send(self.changed(before, after), *FAILED, *rest())

        assert severities() == {"success_after_fail": "advisory"}

    def test_a_promise_made_after_the_run_binds_nothing_that_was_before_it(self, db):
        host = self.changed(False, True)
        CapabilitySnapshot.objects.filter(valid_to=None).update(valid_from=timezone.now())
        CapabilitySnapshot.objects.exclude(valid_to=None).update(valid_to=timezone.now())
        send(host, *FAILED, *rest())

        assert severities() == {"success_after_fail": "advisory"}

    def test_what_becomes_known_of_a_host_later_is_judged_by_the_sweep(self, db):
        host = add_host_named("beta", workspace="acme", gating=None)
        send(host, *FAILED, *rest())
        assert severities() == {"success_after_fail": "advisory"}

        advertise(host=host, document=capabilities(True))
        sweep(timezone.now())

        assert severities() == {"success_after_fail": "violation"}
        gone = Finding.objects.get(kind="verdict_unadvertised")
        assert (gone.status, "advertised" in gone.withdrawn_because) == ("withdrawn", True)

    def test_the_sweep_does_each_run_once(self, db):
        host = add_host_named("beta", workspace="acme", gating=None)
        send(host, *FAILED, *rest())
        send(host, decided(1, run="quiet"), event(2, "run.completed", run="quiet"))
        advertise(host=host, document=capabilities(True))
        sweep(timezone.now())
        newest = CapabilitySnapshot.objects.get(valid_to=None)
        lines = run_of(host).last_position

        assert set(Judgement.objects.values_list("snapshot", flat=True)) == {newest.pk}
        sweep(timezone.now())
        assert run_of(host).last_position == lines

    def test_the_finding_keeps_what_was_advertised_then(self, host):
        send(host, *FAILED, *rest())

        found = Finding.objects.get(kind="success_after_fail").capabilities
        assert found["verifier"] == {"supported": True, "gating": True}
        assert found["snapshot"] == str(CapabilitySnapshot.objects.get(host=host).pk)
