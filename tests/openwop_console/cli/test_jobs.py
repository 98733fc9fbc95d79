"""`openwop-console jobs`, against a real server."""

import json

import pytest
from click.testing import CliRunner

from openwop_console.cli import main
from tests.verification.jobs.building import tasks_document, team_document, worked
from verification.actions.tokens import create_token
from verification.models import Job

pytestmark = pytest.mark.django_db(transaction=True)

LENGTH = 'len=rule:length={"minimum":5}'


@pytest.fixture
def call(host, live_server):
    env = {"OPENWOP_CONSOLE_URL": live_server.url, "OPENWOP_CONSOLE_API_KEY": host.key_for_tests}

    def run(*words: str, typed: str = ""):
        return CliRunner(env=env).invoke(main, ["jobs", *words], input=typed)

    return run


def started(call, answer: str = "Long enough.") -> str:
    done = call("run", "Is it so?", "--answer", answer, "--judge", LENGTH, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["id"]


@pytest.mark.parametrize(
    ("answer", "word", "code"), [("Long enough.", "pass", 0), ("no", "fail", 1)]
)
def test_watching_tells_every_vote_and_ends_with_the_verdict_as_exit_code(
    call, answer, word, code
):  # fmt: skip
    uid = started(call, answer)
    worked(Job.objects.get(uid=uid))

    done = call("watch", uid)

    assert done.exit_code == code
    assert "round 1  len" in done.output
    assert f"{uid}  {word}" in done.output


def test_a_job_that_has_not_ended_in_time_is_pending_and_never_a_pass(call):
    assert call("watch", started(call), "--wait", "0").exit_code == 3


def test_a_whole_request_is_read_from_a_file(call):
    request = {
        "prompt": "Is it so?",
        "answer": "Long enough.",
        "judges": [{"name": "len", "model": "rule:length"}],
    }
    assert call("run", "--file", "-", typed=json.dumps(request)).exit_code == 0
    assert Job.objects.count() == 1


@pytest.mark.parametrize("typed", ["{", "[1]", "[" * 100_000])
def test_a_file_that_is_no_request_is_said_so_and_starts_nothing(call, typed):
    done = call("run", "--file", "-", typed=typed)

    assert (done.exit_code, "is not" in done.output) == (5, True)
    assert not Job.objects.exists()


def test_a_file_may_ask_for_tasks_or_a_team_whose_plan_a_person_then_approves(call, ada):
    asked = team_document(approvePlan=True)
    started = call("run", "--file", "-", "--json", typed=json.dumps(asked))
    uid = json.loads(started.output)["id"]
    job = worked(Job.objects.get(uid=uid))

    assert f"{uid}  waiting" in call("list").output
    token = create_token(user=ada, name="tests")
    by_key = call("approve", uid, typed="y\n")
    unsure = call("approve", uid, "--key", token, typed="n\n")
    shown = json.loads(call("get", uid, "--json").output)["plan"]
    other = call("approve", uid, "--key", token, "--seen", "0" * 64)
    assert [each.exit_code for each in (by_key, unsure, other)] == [5, 1, 5]
    assert "Changed since you looked: plan" in other.output
    for asked_about in (unsure, call("get", uid)):
        assert '"description": "Find it."' in asked_about.output
        assert shown["seenDigest"] in asked_about.output
    assert not worked(job).has_ended
    assert call("approve", uid, "--key", token, typed="y\n").exit_code == 0
    worked(job)
    done = call("watch", uid)
    again = call("approve", uid, "--key", token)
    late = call("approve", uid, "--key", token, "--seen", shown["seenDigest"])

    assert (done.exit_code, again.exit_code, late.exit_code) == (0, 5, 5)
    assert "The plan was already decided by ada: approved." in late.output
    assert f"{uid}  pass (quorum)" in done.output
    assert "1  completed, pass  Find" in done.output
    assert call("run", "--file", "-", typed=json.dumps(tasks_document())).exit_code == 0


def test_tasks_that_nobody_judged_are_no_pass(call):
    tasks = [{"title": "Find", "description": "Find it.", "assignee": "ada"}]
    started = call("run", "--file", "-", "--json", typed=json.dumps(tasks_document(tasks=tasks)))
    uid = json.loads(started.output)["id"]
    worked(Job.objects.get(uid=uid))

    done = call("watch", uid)
    assert (done.exit_code, f"{uid}  no verdict (unverified)" in done.output) == (3, True)


def test_a_cancelled_job_is_listed_as_such(call):
    uid = started(call)
    assert call("cancel", uid).exit_code == 0
    worked(Job.objects.get(uid=uid))

    assert "aborted" in call("list").output
    assert json.loads(call("get", uid, "--json").output)["stop"] == "cancelled"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "Q?", "--answer", "A", "--judge", "x=gpt-evil"),
        ("run", "Q?", "--answer", "A", "--judge", "nameless"),
        ("run", "Q?", "--judge", LENGTH),
        ("run", "Q?", "--answer", "A", "--judge", LENGTH, "--quorum", "many"),
        ("watch", "00000000-0000-0000-0000-000000000000"),
    ],
)
def test_whatever_goes_wrong_is_an_error_and_no_verdict(call, words):
    done = call(*words)

    assert done.exit_code == 5
    assert "Error" in done.output
    assert not Job.objects.exists()
