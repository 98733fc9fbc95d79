"""`gate check`: the answer is the exit code, and whatever goes wrong is never a pass."""

import json
from itertools import chain, repeat

import httpx
import pytest
from click.testing import CliRunner

from openwop_console.cli import main
from openwop_console.cli.gate_checking import (
    ERROR,
    EXIT_CODES,
    LONGEST_QUESTION_S,
    NoAnswer,
    Question,
    ask_until,
)
from tests.factories import decided, event, send, verified


def said(decision, **more):
    body = {"decision": decision, "basis": "verdict", "complete": True, **more}
    return httpx.Response(200, json=body)


class Console:
    """A Console that answers one thing after another, and a clock that only waiting moves."""

    def __init__(self, *answers):
        self.answers = chain(answers, repeat(answers[-1]))
        self.asked, self.now = [], 0.0

    def __call__(self, request):
        self.asked.append(request)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        if any(word in answer.content for word in (b"none", b"pending", b"unknown")):
            self.now += float(request.url.params["wait"])
        return answer

    def sleep(self, seconds):
        self.now += seconds

    def clock(self):
        self.now += 0.001
        return self.now


def answer(console, wait_s=0.0, question=None):
    transport = httpx.MockTransport(console)
    with httpx.Client(transport=transport, base_url="http://console") as client:
        question = question or Question("e1", "r-1", "alpha")
        return ask_until(client, question, wait_s, sleep=console.sleep, clock=console.clock)[
            "decision"
        ]


@pytest.mark.parametrize("decision", EXIT_CODES)
def test_every_decision_is_returned(decision):
    assert answer(Console(said(decision))) == decision


def test_run_host_and_wait_are_asked_with_and_the_target_is_one_segment():
    console = Console(said("pass"))
    answer(console, 12, Question("acme/c 1~#?", "r-1", "alpha"))
    (request,) = console.asked

    assert request.url.raw_path.startswith(b"/api/v1/gates/acme%2Fc%201~%23%3F?")
    assert dict(request.url.params) == {"run": "r-1", "host": "alpha", "wait": "11"}


def test_it_asks_again_until_something_is_decided():
    console = Console(said("none"), said("pending"), said("fail"))

    assert answer(console, 120) == "fail"
    assert all(int(each.url.params["wait"]) <= LONGEST_QUESTION_S for each in console.asked)


def test_when_the_time_is_over_the_last_answer_counts():
    console = Console(said("none"))

    assert answer(console, 65) == "none"
    assert 65 <= console.now < 70


def test_a_console_that_does_not_wait_is_not_hammered():
    console = Console(httpx.Response(404, json={}))

    assert answer(console, 10) == "unknown"
    assert len(console.asked) <= 12


def test_a_run_that_becomes_known_while_waiting_is_answered():
    console = Console(httpx.Response(404, json={}), said("pass"))

    assert answer(console, 30) == "pass"


@pytest.mark.parametrize(
    "trouble", [httpx.ConnectError("no"), httpx.ReadTimeout("no"), httpx.Response(503, json={})]
)
def test_trouble_that_passes_is_waited_out(trouble):
    assert answer(Console(trouble, said("pass")), 30) == "pass"
    with pytest.raises(NoAnswer):
        answer(Console(trouble), 30)
    with pytest.raises(NoAnswer):
        answer(Console(trouble))


@pytest.mark.parametrize(
    "strange",
    [
        httpx.Response(200, text="pass"),
        httpx.Response(200, json=["pass"]),
        httpx.Response(200, json={"decision": "PASS"}),
        httpx.Response(200, json={"decision": "ok", "complete": True}),
        httpx.Response(200, json={"decision": "pass"}),
        httpx.Response(200, json={"decision": "pass", "complete": False}),
        httpx.Response(200, json={"decision": "pass", "complete": "true"}),
        httpx.Response(202, json={"decision": "pass", "complete": True}),
        httpx.Response(302, json={"decision": "pass", "complete": True}),
        httpx.Response(401, json={"message": "no"}),
        httpx.Response(403, json={"message": "no"}),
        httpx.Response(400, json={"message": "no"}),
    ],
)
def test_an_answer_that_is_none_is_an_error_at_once(strange):
    console = Console(strange)
    with pytest.raises(NoAnswer):
        answer(console, 60)
    assert len(console.asked) == 1


@pytest.fixture
def run(tmp_path, monkeypatch):
    for name in ("DATABASE_URL", "OPENWOP_CONSOLE_URL", "OPENWOP_CONSOLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "var"))
    return lambda *words: CliRunner().invoke(main, ["gate", "check", *words])


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["e1", "--wait", "soon"],
        ["e1", "--wait", "-1"],
        ["e1", "--nonsense"],
        ["e1"],
        ["e1", "--url", "http://127.0.0.1:1", "--key", "k"],
        ["e1", "--url", "nonsense", "--key", "k"],
        ["e1", "--url", "http://127.0.0.1:1", "--key", "\u00e9"],
    ],
)
def test_whatever_goes_wrong_ends_with_five(run, words):
    assert run(*words).exit_code == ERROR


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1), ("revise", 2), (None, 3)])
def test_against_a_console_the_code_is_the_answer(run, host, live_server, verdict, code):
    send(host, event(0, "run.started"), decided(1))
    if verdict:
        send(host, verified(2, "r-1-e1", verdict))
    found = run(
        *("r-1-e1", "--run", "r-1", "--host", "alpha", "-o", "json"),
        *("--url", live_server.url, "--key", host.key_for_tests),
    )

    assert found.exit_code == code
    assert json.loads(found.stdout)["decision"] == (verdict or "none")


@pytest.mark.django_db(transaction=True)
def test_what_the_console_does_not_know_is_four_and_said_so(run, host, live_server):
    found = run("x", "--run", "y", "--url", live_server.url, "--key", host.key_for_tests)

    assert (found.exit_code, found.stdout.split()[0]) == (4, "unknown")
    assert "knows no such run" in found.stderr


@pytest.mark.django_db(transaction=True)
def test_a_gap_is_four_and_said_so(run, host, live_server):
    send(host, event(0, "run.started"), decided(1), verified(3, "r-1-e1", "pass"))
    found = run("r-1-e1", "--url", live_server.url, "--key", host.key_for_tests)

    assert found.exit_code == 4
    assert "missing" in found.stderr
