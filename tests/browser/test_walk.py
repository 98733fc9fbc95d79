"""The main job from end to end: a first event, a live run, a failed gate, a decision that lands."""

import base64
import json
import re
import subprocess

import httpx
import pytest
import rfc8785
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import a_console
from tests.browser.people import Visitor
from tests.factories import event

pytestmark = [pytest.mark.browser, pytest.mark.system]


@pytest.fixture(scope="module")
def console():
    """A newcomer's Console holds nothing yet."""
    with a_console() as running:
        yield running


def first_steps(page: Page) -> str:
    """Return the command that the empty list of runs shows."""
    expect(page.get_by_text("Waiting for the first event")).to_be_visible()
    return page.locator("pre").first.inner_text()


def test_a_newcomer_gets_from_nothing_to_a_decision_that_took_effect(console, visitor, request):
    card = console.card
    runs = visitor.page

    # 1. The empty page shows a command that works as it stands, and turns into the list by itself.
    command = first_steps(runs)
    sent = subprocess.run(
        ["bash", "-c", command],
        env={"PATH": "/usr/bin:/bin", "OPENWOP_CONSOLE_API_KEY": card["host"]["key"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(sent.stdout)["accepted"] == 1
    expect(runs.locator("table.runs")).to_contain_text("hello")

    # 2. A host executes a run of several agents; it appears live.
    remote = request.getfixturevalue("remote")
    run_id = remote.start("refund-policy")
    expect(runs.locator("table.runs")).to_contain_text("refund-policy")
    expect(runs.locator("#queue-badge")).to_have_text(re.compile(r"^1\b"))

    # 3. The run's page shows the verdict on its subject and the gate shut.
    runs.get_by_role("link", name=run_id).first.click()
    expect(runs.locator("#timeline")).to_contain_text("agent.verified")
    expect(runs.locator("#run-gates")).to_contain_text("Blocked")
    expect(runs.locator("#timeline .marks .badge", has_text="Fail")).to_be_visible()

    visitor.picture(runs, "run")

    # 4. A reviewer claims the escalation, in a tab of their own, and overrides with a reason.
    review = visitor.open("/queue")
    expect(review.locator("table.queue")).to_contain_text("Failed verdict")
    review.get_by_role("button", name="Claim next").click()
    review.wait_for_url(re.compile(r"/queue/\d+$"))
    expect(review.locator("#claim")).to_contain_text("Yours for")
    expect(runs.locator("#run-gates")).to_contain_text("In review")
    review.get_by_text("Override to pass").click()
    visitor.picture(review, "review")
    review.locator("#reason").fill("The voucher was agreed on the phone.")
    review.get_by_role("button", name=re.compile("^Decide")).click()

    lights = review.locator(".lights")
    expect(lights.locator("li", has_text="Decided")).to_have_attribute("data-state", "done")
    expect(lights.locator("li", has_text="Accepted")).to_have_attribute("data-state", "done")
    expect(lights.locator("li", has_text="Took effect")).to_have_attribute("data-state", "done")

    # The host got one request, with exactly the bytes of the decision, and the run went on.
    (received,) = remote.resolves(1)
    body = base64.b64decode(received["bodyBase64"])
    value = json.loads(body)["resumeValue"]
    assert value["action"] == "accept"
    assert value.keys() == {"action", "decidedAt", "decidedBy"}
    assert body == rfc8785.dumps(json.loads(body))
    assert received["path"].endswith(f"/v1/runs/{run_id}/interrupts/human-review")
    assert re.fullmatch(r"[A-Za-z0-9._~-]{22,128}", received["headers"]["idempotency-key"])
    expect(runs.locator("#run-state")).to_contain_text("Goal met")
    expect(runs.locator("#run-gates")).to_contain_text("Overridden")
    expect(runs.locator("#queue-badge")).to_have_text("")


def test_a_question_of_an_agent_is_answered_by_a_person(console, visitor, remote):
    run_id = remote.start("travel-desk")
    page = visitor.open("/queue")
    expect(page.locator("table.queue")).to_contain_text("travel-desk")
    page.get_by_role("link", name=re.compile("travel-desk")).first.click()
    page.get_by_role("button", name=re.compile("^Claim")).click()
    page.get_by_text("Answer", exact=True).first.click()
    for field in page.locator("[data-field] textarea:visible").all():
        if field.get_attribute("name").startswith("answer."):
            field.fill("Tuesday evening")
    page.get_by_role("button", name=re.compile("^Decide")).click()
    expect(page.locator(".lights li", has_text="Took effect")).to_have_attribute(
        "data-state", "done"
    )

    received = json.loads(base64.b64decode(remote.resolves(1)[-1]["bodyBase64"]))
    answers = received["resumeValue"]["answers"]
    assert set(answers) == {"arrival", "luggage"}
    assert set(answers.values()) == {"Tuesday evening"}
    run = visitor.open(f"/runs/{console.card['host']['id']}/{run_id}")
    expect(run.locator("#run-state")).to_contain_text("Goal met")


def test_nothing_is_missed_while_the_socket_is_down(console, visitor, remote):
    line = Line(visitor)
    run_id = remote.start("research-brief")
    page = visitor.page
    page.get_by_role("link", name=run_id).first.click()
    expect(page.locator("#run-state")).to_contain_text("Goal met")
    key = console.card["host"]["key"]
    before = page.locator("#timeline > li").count()

    line.cut()
    expect(page.locator("#live-state")).to_contain_text("Reconnecting")
    send_many(console, key, run_id, first=1000, count=50)
    line.mend()

    expect(page.locator("#live-state")).to_contain_text("Live", timeout=30_000)
    expect(page.locator("#timeline .seq", has_text="1049")).to_be_visible()
    sequences = page.locator("#timeline .seq").all_inner_texts()
    numbers = [int(each) for each in sequences if each.isdigit()]
    assert numbers == sorted(numbers)
    assert [n for n in numbers if n >= 1000] == list(range(1000, 1050))
    assert page.locator("#timeline > li").count() >= before + 50


class Line:
    """The sockets of a visitor's pages, which can be cut for a while."""

    def __init__(self, visitor: Visitor) -> None:
        self.is_cut = False
        self.sockets: list[WebSocketRoute] = []
        visitor.context.route_web_socket(re.compile("/ws/"), self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        if self.is_cut:
            socket.close(code=1012)
        else:
            socket.connect_to_server()
            self.sockets.append(socket)

    def cut(self) -> None:
        self.is_cut = True
        for socket in self.sockets:
            socket.close(code=1012)
        self.sockets.clear()

    def mend(self) -> None:
        self.is_cut = False


def send_many(console, key: str, run_id: str, *, first: int, count: int) -> None:
    events = [event(first + n, "log.appended", run=run_id) for n in range(count)]
    answer = httpx.post(
        f"{console.card['url']}/api/v1/events",
        json={"events": events},
        headers={"Authorization": f"Bearer {key}"},
    )
    assert answer.status_code == 200, answer.text
