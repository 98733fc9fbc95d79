"""The page with figures, which brings the one script that is not small."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.factories import decided, event, verified

pytestmark = [pytest.mark.browser, pytest.mark.system]


def test_figures_are_drawn_under_the_policy_and_say_the_same_as_their_tables(console, visitor):
    events = []
    for number in range(24):
        run = f"counted-{number}"
        verdict = "fail" if number % 3 == 0 else "pass"
        events += [
            event(0, "run.started", run=run),
            decided(1, run=run),
            verified(2, f"{run}-e1", verdict, "critic-who-counts", run=run),
        ]
    answer = httpx.post(
        f"{console.card['url']}/api/v1/events",
        json=events,
        headers={"Authorization": f"Bearer {console.card['host']['key']}"},
        timeout=30,
    )
    assert answer.status_code == 200, answer.text

    page = visitor.open("/analytics?days=90")
    figure = page.locator("[data-figure=verdicts]")
    expect(figure.locator(".bars .point").first).to_be_visible()
    page.get_by_text("Show as table").last.click()
    row = page.locator("tr", has_text="critic-who-counts").get_by_role("cell")
    expect(row).to_have_text(["16", "0", "8"])
