"""The gate API over HTTP: one word about a target, with a receipt, and never a false pass."""

from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from runs.actions.append import JUDGING_FAILED
from runs.actions.hosts import create_key
from runs.models import Run
from tests.factories import decided, event, run_of, send, verified
from verification.actions import escalations
from verification.domain.decisions import Action, Decision
from verification.models import Escalation, GateReceipt

pytestmark = pytest.mark.django_db

TARGET = "r-1-e1"


@pytest.fixture
def caller(host):
    return calling(host.key_for_tests)


def calling(key: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {key}"})


def ask(caller, target=TARGET, **query):
    return caller.get(f"/api/v1/gates/{target}", {"run": "r-1", **query})


def decision(caller, **query):
    return ask(caller, **query).json()["decision"]


@pytest.fixture
def result(host):
    send(host, event(0, "run.started"), decided(1))


@pytest.mark.parametrize(
    ("verdict", "word"), [("pass", "pass"), ("fail", "fail"), ("revise", "revise")]
)
def test_a_verdict_is_answered(host, caller, result, verdict, word):
    send(host, verified(2, TARGET, verdict))
    answer = ask(caller).json()

    assert answer.keys() == {"decision", "basis", "complete", "expiresAt", "receiptId"}
    assert (answer["decision"], answer["basis"], answer["complete"]) == (word, "verdict", True)


def test_without_a_verdict_the_answer_is_none(caller, result):
    answer = ask(caller).json()

    assert (answer["decision"], answer["basis"]) == ("none", "timeout")


def test_a_target_that_the_run_does_not_show_has_no_verdict_either(caller, result):
    assert decision(caller, target="elsewhere") == "none"


def test_a_pass_in_a_run_with_a_gap_is_not_a_pass(host, caller, result):
    send(host, verified(2, TARGET, "pass"), event(4))
    answer = ask(caller).json()

    assert (answer["decision"], answer["complete"]) == ("unknown", False)

    send(host, event(3))
    assert decision(caller) == "pass"


def test_a_pass_in_a_held_run_is_not_a_pass(host, caller, result):
    send(host, verified(2, TARGET, "pass"), event(3, "agent.verifed"))

    assert decision(caller) == "unknown"
    assert decision(caller, target="another") == "unknown"


def test_a_pass_in_a_run_that_could_not_be_judged_is_not_a_pass(host, caller, result):
    send(host, verified(2, TARGET, "pass"))
    Run.objects.update(held=True, hold_reasons=[JUDGING_FAILED])

    assert decision(caller) == "unknown"


def test_a_refused_verdict_is_not_a_pass(host, caller, result):
    send(host, verified(2, TARGET, "pass"), verified(3, TARGET, "fail", result="content"))

    assert decision(caller) == "unknown"


def failed(host) -> Escalation:
    send(host, verified(2, TARGET, "fail"))
    return Escalation.objects.get()


def test_while_a_reviewer_holds_it_the_answer_is_pending(host, caller, result, ada):
    escalations.claim(escalation=failed(host).pk, by=ada)

    assert decision(caller) == "pending"


@pytest.mark.parametrize(
    ("action", "word"),
    [(Action.OVERRIDE, "pass"), (Action.UPHOLD, "fail"), (Action.SEND_BACK, "revise")],
)
def test_what_a_person_decided_is_answered(host, caller, result, ada, action, word):
    found = failed(host)
    escalations.claim(escalation=found.pk, by=ada)
    found.refresh_from_db()
    escalations.resolve(
        escalation=found.pk,
        by=ada,
        decision=Decision(action, reason="Checked.", feedback="Please cite."),
        seen=escalations.view_of(found),
    )
    answer = ask(caller).json()

    assert (answer["decision"], answer["basis"]) == (word, "human")


def test_a_settled_answer_expires_and_an_unsettled_one_is_good_for_nothing(
    host, caller, result, settings
):
    settings.GATE_ANSWER_S = 90
    silent = ask(caller).json()
    send(host, verified(2, TARGET, "pass"))
    passed = ask(caller).json()

    assert instant(silent["expiresAt"]) <= timezone.now()
    left = instant(passed["expiresAt"]) - timezone.now()
    assert timedelta(seconds=80) < left <= timedelta(seconds=90)


def instant(text):
    return datetime.fromisoformat(text)


def test_a_receipt_says_what_was_answered_to_whom_over_which_verdicts(host, caller, result):
    send(host, verified(2, TARGET, "pass"), verified(3, TARGET, "fail", "critic-2"))
    answer = ask(caller).json()
    receipt = caller.get(f"/api/v1/receipts/{answer['receiptId']}").json()

    assert {key: receipt[key] for key in answer} == answer
    assert receipt["verdicts"] == ["r-1-e2", "r-1-e3"]
    assert receipt["askedBy"] == f"key:{host.keys.get().key_id}"
    assert (receipt["runId"], receipt["host"], receipt["state"]) == ("r-1", "alpha", "blocked")
    assert receipt["position"] == run_of(host).last_position


def test_every_answer_has_a_receipt_of_its_own(caller, result):
    receipts = {ask(caller).json()["receiptId"] for _ in range(3)}

    assert {str(each) for each in GateReceipt.objects.values_list("pk", flat=True)} == receipts
    assert len(receipts) == 3


def test_the_table_itself_refuses_a_pass_of_a_held_or_incomplete_run(host, caller, result):
    send(host, verified(2, TARGET, "pass"))
    ask(caller)
    for wrong in ({"held": True}, {"complete": False}):
        with pytest.raises(IntegrityError, match="nothing_passes"), transaction.atomic():
            GateReceipt.objects.update(**wrong)


def test_an_answer_is_not_kept_by_caches(caller, result):
    assert ask(caller).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["gates/r-1-e1?run=r-1", "gates/r-1-e1", "gates/nothing?run=r-1"])
def test_for_another_tenant_neither_run_nor_target_exists(host, other_host, result, path):
    send(host, verified(2, TARGET, "pass"))
    stranger = calling(other_host.key_for_tests)
    answer = stranger.get(f"/api/v1/{path}")
    unknown = stranger.get("/api/v1/gates/x?run=never")

    assert (answer.status_code, answer.content) == (404, unknown.content)
    assert not GateReceipt.objects.exists()


def test_for_another_tenant_a_receipt_does_not_exist(caller, other_host, result):
    receipt = ask(caller).json()["receiptId"]

    answer = calling(other_host.key_for_tests).get(f"/api/v1/receipts/{receipt}")
    assert answer.status_code == 404


def test_without_a_key_nothing_is_answered(client, result):
    assert client.get(f"/api/v1/gates/{TARGET}?run=r-1").status_code == 401


def test_a_key_that_may_not_read_gates_is_told_so(host, result):
    writer = calling(create_key(host=host, scopes=["events:write"]))

    for path in (f"gates/{TARGET}?run=r-1", "runs/r-1/gates", "runs/r-1/findings", "escalations"):
        assert writer.get(f"/api/v1/{path}").status_code == 403


def test_without_a_run_the_target_must_be_in_one_run_only(host, caller, result):
    send(host, verified(2, TARGET, "pass"))
    assert caller.get(f"/api/v1/gates/{TARGET}").json()["decision"] == "pass"

    send(host, verified(0, TARGET, "fail", run="r-2"))
    refused = caller.get(f"/api/v1/gates/{TARGET}")
    assert (refused.status_code, refused.json()["details"]["reason"]) == (400, "run_required")


def test_without_a_run_a_result_that_nobody_judged_is_found_by_its_event(caller, result):
    assert caller.get(f"/api/v1/gates/{TARGET}").json()["decision"] == "none"


def test_of_two_hosts_with_one_run_id_the_caller_must_name_one(
    host, other_host, client, ada, result
):
    from runs.actions.people import grant
    from runs.models import Role

    grant(user=ada, workspace=other_host.workspace, role=Role.VIEWER)
    send(other_host, event(0, "run.started"), decided(1), verified(2, TARGET, "fail"))
    send(host, verified(2, TARGET, "pass"))
    client.force_login(ada)

    refused = ask(client)
    assert (refused.status_code, refused.json()["details"]["reason"]) == (400, "host_required")
    assert decision(client, host="alpha") == "pass"
    assert decision(client, host="omega") == "fail"
    assert GateReceipt.objects.first().asked_by == f"person:{ada.pk}"


CHILD = "acme/c-12345678901234567890"


@pytest.mark.parametrize(
    "address",
    [CHILD, CHILD.replace("/", "%2F"), CHILD.replace("/", "~2F"), CHILD.replace("/", "~2f")],
)
def test_a_target_with_a_slash_can_be_asked_for_in_every_spelling(host, caller, result, address):
    send(host, verified(2, CHILD, "pass"))

    assert caller.get(f"/api/v1/gates/{address}?run=r-1").json()["decision"] == "pass"


def test_a_target_that_is_itself_written_in_the_projected_form_is_found(host, caller, result):
    send(host, verified(2, CHILD.replace("/", "~2F"), "fail"))

    assert decision(caller, target=CHILD.replace("/", "~2F")) == "fail"


def test_where_both_spellings_are_targets_the_worse_one_is_answered(host, caller, result):
    send(host, verified(2, CHILD, "pass"), verified(3, CHILD.replace("/", "~2F"), "fail"))

    assert decision(caller, target=CHILD.replace("/", "~2F")) == "fail"


@pytest.mark.parametrize("target", ["a~b", "x#y%3F", "ü", "a%00b", "x" * 900, "%3Cscript%3E", "~"])
def test_no_target_makes_it_stumble(caller, result, target):
    answer = caller.get(f"/api/v1/gates/{target}?run=r-1")

    assert answer.status_code in (200, 404)
    assert "pass" not in answer.text


@pytest.mark.parametrize("wait", ["-1", "abc", "1e9", "١", "1.5"])
def test_a_wait_that_is_no_number_of_seconds_is_refused(caller, result, wait):
    refused = ask(caller, wait=wait)

    assert (refused.status_code, refused.json()["details"]["pointer"]) == (400, "/wait")


def test_where_nothing_can_wait_the_answer_comes_at_once(caller, result):
    assert decision(caller, wait=30) == "none"
