"""The Console as a host, as users start it: a real server, a real worker, the official client."""

import re

import httpx
import pytest
from openwop_client import OpenwopClient, ResolveInterruptRequest

pytestmark = pytest.mark.system


def test_the_official_client_reads_and_resolves_a_run_of_a_started_console(serve):
    console = serve(env={"OPENWOP_CONSOLE_HOST_SURFACE": "1"})
    card = console.card
    made = console.call("tokens", "create", card["admin"]["username"], "--name", "sdk")
    token = re.search(r"owp_\S+", made.stdout)[0]
    proof = httpx.post(
        f"{card['url']}/v1/host/sample/agents/verify-run",
        json={"simulateVerdict": "fail"},
        headers={"Authorization": f"Bearer {card['host']['key']}"},
        timeout=60,
    ).json()
    assert (proof["status"], proof["committed"]) == ("escalated", False)

    client = OpenwopClient(card["url"], token, timeout=60)
    run = f"default/{proof['runId']}"
    assert [each.type for each in client.runs_events(run)][-1] == "run.completed"
    before = client.runs_get(run)
    client.interrupts_resolve_by_run(
        run,
        before.interrupt["nodeId"],
        ResolveInterruptRequest({"action": "accept", "feedback": "It is a proof."}),
    )

    after = client.runs_get(run)
    assert (before.metadata["outcome"], after.metadata["outcome"]) == ("withheld", "committed")
    assert (after.status, after.interrupt) == ("completed", None)


def test_nothing_of_it_is_there_unless_it_is_switched_on(shared):
    for path in ("/.well-known/openwop", "/v1/runs/any", "/v1/anything"):
        answer = httpx.get(shared.card["url"] + path, timeout=60)
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
