"""A decision reaches its host once, whatever dies on the way."""

import os
import re
import signal
from contextlib import ExitStack

import httpx
import pytest

from tests.remote import RunningHost
from tests.system.running import Running, eventually

pytestmark = pytest.mark.system


class Reviewer:
    """Somebody signed in, without a browser."""

    def __init__(self, card: dict) -> None:
        self.http = httpx.Client(base_url=card["url"], follow_redirects=True, timeout=30)
        self.post("/login", **card["admin"])

    def post(self, path: str, page: str | None = None, **form: str) -> httpx.Response:
        """Send a form with the token of the page that it is on."""
        shown = self.http.get(page or path).text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', shown)[1]
        seen = re.search(r'name="seen" value="([^"]*)"', shown)
        form |= {"csrfmiddlewaretoken": token, "seen": seen[1] if seen else ""}
        answer = self.http.post(path, data=form, headers={"Referer": str(self.http.base_url)})
        assert answer.status_code == 200, answer.text
        return answer


@pytest.fixture
def exit_stack():
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def running(serve):
    return serve(env={"OPENWOP_CONSOLE_UNDO_S": "2"})


@pytest.fixture
def remote(running: Running):
    card = running.card
    host = RunningHost(console_url=card["url"], console_key=card["host"]["key"])
    running.call(
        "hosts", "connect", card["host"]["id"],
        "--base-url", host.url, "--api-key", host.options.api_key,
    )  # fmt: skip
    yield host
    host.stop()


def test_a_worker_killed_between_decision_and_delivery_delivers_once(running, remote, exit_stack):
    api = exit_stack.enter_context(
        httpx.Client(
            base_url=running.card["url"],
            headers={"Authorization": f"Bearer {running.card['host']['key']}"},
        )
    )
    remote.start("refund-policy")
    eventually(lambda: api.get("/api/v1/escalations?state=open").json()["escalations"])
    (found,) = api.get("/api/v1/escalations?state=open").json()["escalations"]
    reviewer = Reviewer(running.card)
    exit_stack.callback(reviewer.http.close)
    page = f"/queue/{found['id']}"
    reviewer.post(f"{page}/claim", page=page)
    reviewer.post(f"{page}/resolve", page=page, action="override", reason="Agreed.")

    os.kill(running.child("worker"), signal.SIGKILL)

    run = f"/api/v1/runs/{found['runId']}"
    eventually(lambda: api.get(run).json()["outcome"] == "goal_met")
    assert len(remote.resolves(1)) == 1
