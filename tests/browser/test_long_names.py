"""Names of every length and direction: no page grows wider than its screen, no words turn round."""

import pytest
from playwright.sync_api import expect

from tests.browser.matters import send_events
from tests.browser.people import DESK, PHONE, Visitor
from tests.factories import event

pytestmark = [pytest.mark.browser, pytest.mark.system]

RUN = "r" * 120
AGENT = "agent" * 25
TURNED = "\u0645\u062f\u0642\u0642\u202e"
"""Written from right to left, with a mark that would turn round what follows."""


@pytest.fixture(scope="module")
def named(console):
    """A run in which every name is as long as it may be, and one whose agent's turns its line."""
    for run, agent in ((RUN, AGENT), ("turned", TURNED)):
        said = {"agentId": "critic" * 21, "target": f"{run}-e1", "verdict": "fail"}
        send_events(
            console,
            event(0, "run.started", run=run, payload={"workflowId": "workflow" * 25}),
            event(1, "agent.decided", run=run, payload={"agentId": agent}),
            event(2, "agent.verified", run=run, payload=said | {"criteria": ["c" * 64]}),
        )
    return f"/runs/{console.card['host']['id']}/{RUN}"


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_no_page_is_wider_than_its_screen_for_the_longest_names(browser, console, named, size):
    with Visitor(browser, console.card, size=size | {"height": 4000}) as someone:
        page = someone.open("/queue")
        row = page.locator("tr", has_text=RUN[:20]).first
        expect(row.locator("time").first).to_be_in_viewport(ratio=1)  # when it is due

        row.locator(".door").click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        for path in (page.url, named, "/runs", "/queue", "/findings", "/analytics"):
            page.goto(path)
            expect(page.locator("main")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path


def test_a_name_turns_round_no_words_of_the_console(console, visitor, named):
    page = visitor.open(named.replace(RUN, "turned"))

    expect(page.locator(".gate .sentence")).to_contain_text("it must not be used until somebody")
    assert "\u202e" not in page.locator(".gate .sentence").inner_text()
    expect(page.locator(".line .summary").first).to_have_css("direction", "ltr")
