"""Every way in which real hosts were seen to wait for a person, answered in every permitted way.

The demo host replays the recorded runs (tests/fixtures/captured_interrupts), at home and in the
published spelling; with `DRILL_DIALECTS=all` in every dialect. A decision must arrive with its
frozen bytes, take effect by the host's own log, and let the run end as its recording did, or as the
host's rule for that answer says.
"""

import base64
import json
import os
from pathlib import Path

import pytest

from openwop_console.demo.dialects import DIALECTS
from runs.actions.hosts import connect_host
from runs.models import Run
from tests.factories import add_host_named, person, send
from tests.remote import CAPTURED, RunningHost
from verification import situations
from verification.actions import deliveries, escalations, learning
from verification.domain.answers import assembled
from verification.domain.choices import Choice
from verification.domain.decisions import LEAVES_OPEN, Action, Decision
from verification.domain.fields import FieldKind, FormField
from verification.models import Delivery, Escalation, Vote

pytestmark = pytest.mark.django_db

RECORDED = {path.stem: json.loads(path.read_text()) for path in sorted(Path(CAPTURED).glob("*"))
            if path.suffix == ".json"}  # fmt: skip
SPOKEN = tuple(DIALECTS) if os.environ.get("DRILL_DIALECTS") == "all" else ("spec",)
CASES = [
    pytest.param(name, dialect, id=f"{name}-in-{dialect}")
    for name, fixture in RECORDED.items()
    for dialect in dict.fromkeys((fixture["dialect"], *SPOKEN))
]
REFUSES = {
    (fixture["dialect"], fixture["interrupt"]["kind"])
    for fixture in RECORDED.values()
    if fixture["recordings"][0]["exchanges"]
    and all(each["status"] == 404 for each in fixture["recordings"][0]["exchanges"])
}
"""Dialects whose host suspends a run so, and knows no interrupt when it is answered."""
EDITS = {Action.EDIT_ACCEPT, Action.REPLACE, Action.REPORT_EVENT}
SAYS_NO = {Action.REJECT, Action.UPHOLD, Action.DECLINED}


@pytest.fixture(scope="module")
def hosts():
    running = {name: RunningHost(dialect=name) for name in DIALECTS}
    yield running
    for each in running.values():
        each.stop()


@pytest.fixture
def crowd():
    """As many reviewers as the largest quorum asks for."""
    people = [person(f"reviewer-{number}") for number in range(4)]
    for each in people:
        each.is_superuser = True
        each.save()
    return people


def bring(remote, host, run_id: str, until) -> None:
    """Bring a run's events in until the run is as it should be."""
    for _ in range(60):
        poll = remote.call("GET", f"/v1/runs/{run_id}/events/poll", params={"timeout": 1})
        send(host, *poll["events"])
        if until():
            return
    raise AssertionError(f"{run_id} never came there: {poll['events'][-1]['type']}")


def value_of(field: FormField):
    match field.kind:
        case FieldKind.CHECKBOX:
            return True
        case FieldKind.INTEGER | FieldKind.NUMBER:
            return 1
        case FieldKind.CHOICE:
            return field.choices[0]
        case FieldKind.JSON:
            return field.initial if field.initial is not None else {"ratified": True}
        case _:
            return "yes"


def decision_of(choice: Choice) -> Decision:
    answers = {field.name.removeprefix("answer."): value_of(field) for field in choice.fields
               if field.kind not in (FieldKind.FIXED, FieldKind.WITHHELD)}  # fmt: skip
    is_edit = choice.action in EDITS
    return Decision(
        choice.action,
        reason="Seen by a person.",
        feedback="" if choice.feedback == "no" else "Please.",
        answers={} if is_edit else answers,
        edited=assembled(choice.fields, answers) if is_edit else None,
    )


def say(found: Escalation, by, choice: Choice):
    taken = escalations.claim(escalation=found.pk, by=by)
    return escalations.resolve(
        escalation=found.pk, by=by, decision=decision_of(choice), seen=escalations.view_of(taken)
    )


@pytest.mark.parametrize(("name", "dialect"), CASES)
def test_every_permitted_answer_arrives_takes_effect_and_ends_the_run(
    name, dialect, hosts, crowd, settings
):
    settings.UNDO_S = 0
    remote = hosts[dialect]
    host = add_host_named("alpha", workspace="acme")
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    first = waiting(remote, host, name)
    offered = situations.choices_of(first, situations.interrupt_of(first))
    sent = [choice for choice in offered if choice.goes_to_host and not choice.leaves_open]
    if (dialect, RECORDED[name]["interrupt"]["kind"]) in REFUSES:
        check_refused(remote, first, crowd[0], sent[0])
        return
    assert sent, "a host that waits can always be answered"

    for number, choice in enumerate(sent):
        found = first if number == 0 else waiting(remote, host, name)
        remote.call("DELETE", "/admin/faults")
        answer(remote, found, crowd, choice)
        check_bytes(remote, found)
        run = Run.objects.get(pk=found.run_id)
        bring(remote, host, run.run_id, lambda run=run: ended(run))
        run.refresh_from_db()
        assert Delivery.objects.filter(escalation=found, effect_position=None).count() == 0
        assert run.status == expected_end(name, choice, remote, run), choice.action
        assert not Escalation.objects.waiting().filter(run=run).exists()


def check_refused(remote, found: Escalation, by, choice: Choice) -> None:
    """A host that shows a pause and takes no answer to it: said as it is, never as delivered."""
    said = say(found, by, choice)
    deliveries.attempt(delivery=said.delivery.pk)
    said.delivery.refresh_from_db()
    assert said.delivery.state == "undeliverable"
    assert (said.delivery.delivered_at, said.delivery.accepted_at) == (None, None)


def waiting(remote, host, name: str) -> Escalation:
    """Start the recorded run and return the escalation that its pause opens."""
    run_id = remote.start(f"captured:{name}")
    rows = Escalation.objects.waiting().filter(run__run_id=run_id).exclude(interrupt=None)
    bring(remote, host, run_id, rows.exists)
    learning.learn(escalation=rows.get().pk)
    return rows.get()


def answer(remote, found: Escalation, crowd, choice: Choice) -> None:
    """Say it, as often as the host's own quorum asks for, each time as somebody else."""
    for by in crowd:
        said = say(found, by, choice)
        delivery = said.delivery
        deliveries.attempt(delivery=delivery.pk)
        delivery.refresh_from_db()
        assert delivery.state == "accepted", (choice.action, delivery.words)
        found.refresh_from_db()
        if not isinstance(said, Vote):
            return
        bring(remote, found.run.host, found.run.run_id, lambda: True)
        found.refresh_from_db()
        if found.state == "moot":
            return  # the host's quorum was reached sooner: enough rejections
    raise AssertionError("nobody was asked any more, and nothing was settled")


def check_bytes(remote, found: Escalation) -> None:
    bodies = [base64.b64decode(each["bodyBase64"]) for each in remote.resolves(0)]
    frozen = [bytes(each.content.body) for each in found.deliveries.order_by("pk")]
    assert bodies == frozen


def ended(run: Run) -> bool:
    run.refresh_from_db()
    return run.is_terminal


def expected_end(name: str, choice: Choice, remote, run: Run) -> str:
    """Return the recorded end for a yes, where there is one; else what the host itself says."""
    itself = remote.call("GET", f"/v1/runs/{run.run_id}")["status"]
    ends = {each["snapshot"]["status"] for each in RECORDED[name]["recordings"]}
    if choice.action not in SAYS_NO and "completed" in ends:
        assert itself == "completed"
    return itself


def test_a_turn_of_a_conversation_leaves_the_pause_and_its_effect_is_told_apart(
    hosts, crowd, settings
):
    settings.UNDO_S = 0
    remote = hosts["openwop-app"]
    host = add_host_named("alpha", workspace="acme")
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    found = waiting(remote, host, "openwop-app.conversation-capability-negotiation")
    offered = situations.choices_of(found, situations.interrupt_of(found))
    turns = [choice for choice in offered if choice.goes_to_host and choice.leaves_open]

    assert {choice.action for choice in turns} == {Action.REPLY}
    assert {choice.action for choice in offered if choice.leaves_open} <= LEAVES_OPEN
    comment = say(found, crowd[0], turns[0])
    deliveries.attempt(delivery=comment.delivery.pk)
    comment.delivery.refresh_from_db()
    assert comment.delivery.state == "accepted"
    assert Escalation.objects.get(pk=found.pk).state in ("claimed", "moot")


def test_what_the_events_do_not_say_is_learnt_from_the_host_without_its_tokens(hosts):
    remote = hosts["openwop-app"]
    host = add_host_named("alpha", workspace="acme")
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    found = waiting(remote, host, "openwop-app.interrupt-external-event")

    said = bytes(found.asked.body).decode()
    assert "fixture-order-1" in said
    token = remote.call("GET", f"/v1/runs/{found.run.run_id}")["interrupt"]["interruptToken"]
    assert token not in said
    assert "callbackUrl" not in said
    assert situations.interrupt_of(found).correlation == {
        "orderId": "fixture-order-1",
        "status": "completed",
    }


def test_a_host_that_is_away_is_asked_again_later(hosts, settings):
    remote = hosts["openwop-app"]
    host = add_host_named("alpha", workspace="acme")
    run_id = remote.start("captured:openwop-app.clarification")
    rows = Escalation.objects.waiting().filter(run__run_id=run_id).exclude(interrupt=None)
    bring(remote, host, run_id, rows.exists)

    assert not learning.learn(escalation=rows.get().pk)
    again = rows.get()
    assert again.ask_host_at > again.opened_at
    connect_host(host_id=host.slug, base_url=remote.url, api_key=remote.options.api_key)
    assert learning.learn(escalation=again.pk, now=again.ask_host_at)
    (question,) = situations.interrupt_of(rows.get()).questions
    assert question.text == "Please clarify."
