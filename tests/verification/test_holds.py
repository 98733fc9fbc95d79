"""What cannot be read holds its run, says why, and waits for a person who may release it."""

from contextlib import suppress

import pytest
from django.utils import timezone

from runs.actions.append import JUDGING_FAILED
from runs.models import Event
from runs.refusal import Refusal
from tests.factories import decided, event, run_of, send, verified
from verification.actions import escalations, judge
from verification.actions.resolving import resolve
from verification.domain.decisions import Action, Decision
from verification.models import Escalation, Finding, Gate
from verification.situations import view_of
from verification.sweeping import judge_held_runs

pytestmark = pytest.mark.django_db

TARGET = "r-1-e1"


def raw(sequence, **payload):
    return event(sequence, "agent.verified", payload=payload)


UNREADABLE = {
    "a verdict with content": (
        verified(3, TARGET, "fail", result="secret"),
        "verdict_refused",
        "refused as malformed",
    ),
    "a verdict with an unknown word": (
        verified(3, TARGET, "reject"),
        "verdict_refused",
        "refused as malformed",
    ),
    "a verdict without a target": (
        raw(3, agentId="critic-1", verdict="fail"),
        "verdict_refused",
        "refused as malformed",
    ),
    "a verdict with a sentence for a criterion": (
        verified(3, TARGET, "fail", criteria=["the numbers do not add up"]),
        "verdict_refused",
        "refused as malformed",
    ),
    "a mistyped verdict": (
        event(3, "agent.verifed", payload={"agentId": "critic-1", "target": TARGET}),
        "near_miss_type",
        "one letter away",
    ),
    "a verdict of a type in other case": (
        event(3, "agent.Verified", payload={}),
        "near_miss_type",
        "one letter away",
    ),
    "an unreadable decision to end": (
        event(3, "runOrchestrator.decided", payload={"decision": {"kind": "terminate-success"}}),
        "decision_unreadable",
        "cannot be read",
    ),
    "another event in the place of a verdict": (
        {**verified(2, TARGET, "fail"), "eventId": "another"},
        "conflicting_event",
        "same place",
    ),
}


@pytest.fixture(params=UNREADABLE.values(), ids=UNREADABLE)
def case(request):
    return request.param


@pytest.fixture
def held(host, case):
    """A run with a pass, and then what cannot be read."""
    send(host, event(0, "run.started"), decided(1), verified(2, TARGET, "pass"))
    with suppress(Refusal):
        send(host, case[0])
    return run_of(host)


def test_it_holds_the_run_and_says_why(held, case, client, ada):
    client.force_login(ada)
    text = client.get("/runs/alpha/r-1").text

    assert held.held
    assert case[1] in held.hold_reasons
    assert case[2] in text
    assert "Nothing in this run counts as passed" in text


def test_it_asks_for_a_person_once(held):
    (found,) = Escalation.objects.all()

    assert (found.reason, found.state) == ("held", "open")


def test_what_could_have_been_a_verdict_makes_every_gate_unknown(held, case):
    could_be = case[1] in ("verdict_refused", "near_miss_type")

    assert Gate.objects.get().state == ("unknown" if could_be else "passed")


def test_no_content_of_it_is_kept(held):
    kept = list(Event.objects.values_list("payload", "extra", "flags"))

    assert "secret" not in str(kept)
    assert "do not add up" not in str(kept)


def release(by):
    found = Escalation.objects.get(reason="held", state="open")
    escalations.claim(escalation=found.pk, by=by)
    found.refresh_from_db()
    decision = Decision(Action.RELEASE_HOLD, reason="It was a pass.")
    resolve(escalation=found.pk, by=by, decision=decision, seen=view_of(found))


def test_a_person_can_release_it(host, held, ada):
    release(ada)
    run = run_of(host)

    assert (run.held, run.hold_reasons) == (False, [])
    assert Gate.objects.get().state == "passed"
    assert not Escalation.objects.waiting().exists()


def test_what_comes_after_the_release_holds_it_again(host, held, ada):
    release(ada)
    send(host, event(9, "agent.verifed"))

    assert run_of(host).held
    assert Escalation.objects.waiting().get().reason == "held"


def test_the_same_again_does_not(host, held, case, ada):
    release(ada)
    with suppress(Refusal):
        send(host, case[0])

    assert not run_of(host).held


def test_a_readable_verdict_in_its_place_clears_it(host):
    send(host, event(0, "run.started"), decided(1), verified(2, TARGET, "pass"))
    with pytest.raises(Refusal):
        send(host, verified(3, TARGET, "fail", result="secret"))
    send(host, verified(3, TARGET, "fail"))
    run = run_of(host)

    assert not run.held
    assert Gate.objects.get().state == "blocked"
    assert Escalation.objects.get(reason="held").closed_because == "hold_cleared"


LEAKING = verified(2, TARGET, "fail", result="secret")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("said", ["pass", "revise"])
def test_a_refused_fail_and_another_verdict_of_its_id_are_a_conflict_in_either_order(
    host, order, said
):
    send(host, event(0, "run.started"), decided(1))
    for each in order:
        with suppress(Refusal):
            send(host, [LEAKING, verified(2, TARGET, said)][each])
    send(host, event(3, "run.completed"))
    run = run_of(host)

    assert run.hold_reasons == ["conflicting_event"]
    assert Gate.objects.get().state == ("unknown" if said == "pass" else "revise_asked")
    assert Finding.objects.filter(kind="conflicting_event", status="standing").exists()
    assert Escalation.objects.waiting().filter(reason="held").exists()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_refused_fail_and_the_same_without_content_are_one_fail_in_either_order(host, order):
    send(host, event(0, "run.started"), decided(1))
    for each in order:
        with suppress(Refusal):
            send(host, [LEAKING, verified(2, TARGET, "fail")][each])

    assert not run_of(host).held
    assert Gate.objects.get().state == "blocked"


def test_the_timeline_says_what_a_mistyped_type_was_probably_meant_to_be(host, client, ada):
    send(host, event(0, "run.started"), event(1, "agent.verifed"))
    client.force_login(ada)

    assert "unknown, probably meant as agent.verified" in client.get("/runs/alpha/r-1").text


def fail(*args, **kwargs):
    raise RuntimeError("a rule is broken")


def test_a_judgement_that_fails_leaves_the_events_and_holds_the_run_until_it_is_made(
    host, monkeypatch
):
    with monkeypatch.context() as broken:
        broken.setattr(judge, "settle_escalations", fail)  # when gates and findings are written
        send(host, event(0, "run.started"), decided(1), verified(2, TARGET, "fail"))
    run = run_of(host)

    assert (run.held, run.hold_reasons, run.standing) == (True, [JUDGING_FAILED], "")
    assert (run.event_count, run.last_position, Event.objects.count()) == (3, 3, 3)
    assert not Gate.objects.exists()
    assert not Finding.objects.exists()

    judge_held_runs(timezone.now())
    run = run_of(host)

    assert (run.held, run.hold_reasons, run.standing) == (False, [], "blocked")
    assert run.last_position == Event.objects.count() > 3
    assert Gate.objects.get().state == "blocked"


def test_what_fails_to_be_judged_later_keeps_what_was_judged_before(host, monkeypatch):
    send(host, event(0, "run.started"), decided(1), verified(2, TARGET, "pass"))
    with monkeypatch.context() as broken:
        broken.setattr(judge, "settle_escalations", fail)
        send(host, verified(3, TARGET, "fail"))
    run = run_of(host)

    assert (run.held, run.hold_reasons, run.standing) == (True, [JUDGING_FAILED], "passed")
    assert (run.event_count, run.last_position) == (4, Event.objects.count())
    assert Gate.objects.get().state == "passed"
