"""From the POST of a `fail` to the page that shows it."""

import statistics
import time

import httpx
import pytest
from playwright.sync_api import expect

from tests.factories import decided, event, verified

pytestmark = [pytest.mark.bench, pytest.mark.browser]

ROUNDS = 40
WATCH = """() => {
  window.arrivals = {};
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) {
      const sequence = node.querySelector?.(".seq")?.textContent.trim();
      if (sequence) window.arrivals[sequence] ??= Date.now();
    }
  }).observe(document.getElementById("timeline"), { childList: true });
}"""


def test_how_long_a_verdict_takes_to_an_open_page(console, visitor):
    host = console.card["host"]
    client = httpx.Client(
        base_url=console.card["url"], headers={"Authorization": f"Bearer {host['key']}"}
    )

    def post(*events):
        client.post("/api/v1/events", json={"events": list(events)}).raise_for_status()

    post(event(0, "run.started", run="bench"))
    page = visitor.open(f"/runs/{host['id']}/bench")
    expect(page.locator("#live-state")).to_contain_text("Live")
    page.evaluate(WATCH)
    took = []
    for number in range(ROUNDS):
        turn, verdict = 1 + 2 * number, 2 + 2 * number
        post(decided(turn, run="bench", node=f"n{number}"))
        started = time.time() * 1000
        post(verified(verdict, f"bench-e{turn}", "fail", run="bench"))
        expect(page.locator(".seq", has_text=str(verdict)).first).to_be_visible()
        arrived = page.evaluate("(sequence) => window.arrivals[sequence]", str(verdict))
        took.append(arrived - started)
    client.close()
    took.sort()
    print(
        f"\nPOST of a fail to the DOM, {ROUNDS} rounds: p50 {statistics.median(took):.0f} ms, "
        f"p90 {took[int(ROUNDS * 0.9)]:.0f} ms, worst {took[-1]:.0f} ms"
    )
    assert len(took) == ROUNDS
