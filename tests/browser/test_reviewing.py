"""A reviewer's day: ten matters by keyboard alone, one on a phone, and nothing that axe minds."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import a_console
from tests.browser.matters import send_failed
from tests.browser.people import PHONE, Visitor
from tests.system.running import Running

pytestmark = [pytest.mark.browser, pytest.mark.system]

TEN = 10


@pytest.fixture(scope="module")
def console() -> Iterator[Running]:
    """A Console of its own: the queue holds what these tests put there, and nothing else."""
    with a_console() as running:
        yield running


def focus_is_somewhere(page: Page) -> bool:
    return bool(page.evaluate("document.activeElement !== document.body"))


def serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def test_ten_matters_are_decided_by_keyboard_alone(console, visitor):
    send_failed(console, *(f"case-{number}" for number in range(TEN)))
    page = visitor.open("/queue")
    expect(page.locator("table.queue tbody tr")).to_have_count(TEN)

    page.keyboard.press("Shift+C")
    page.wait_for_url(re.compile(r"/queue/\d+$"))
    for number in range(TEN):
        if number:
            expect(page.locator("#claim")).to_contain_text("Nobody holds this")
            page.keyboard.press("Shift+C")
        expect(page.locator("#claim")).to_contain_text("Yours for")
        before = page.url
        page.keyboard.press("1")
        expect(page.locator("input[value=uphold]")).to_be_checked()
        assert focus_is_somewhere(page)
        page.keyboard.press("Control+Enter")
        if number < TEN - 1:
            expect(page).not_to_have_url(before)
            expect(page.locator("#messages")).to_contain_text("Fail upheld")
        else:
            expect(page.locator("#messages")).to_contain_text("Decided")

    expect(page.locator(".decision")).to_contain_text(f"{TEN} decided by you today")
    expect(page.locator("#queue-badge")).to_have_text("")
    page.keyboard.press("g")
    page.keyboard.press("q")
    page.wait_for_url("**/queue")
    expect(page.locator("#queue")).to_contain_text("Nothing is waiting for a person")


def test_a_decision_is_prepared_with_the_keyboard_and_focus_survives_what_the_socket_brings(
    console, visitor
):
    send_failed(console, "focus-1")
    page = visitor.open("/queue")
    page.keyboard.press("Shift+C")
    page.wait_for_url(re.compile(r"/queue/\d+$"))
    page.keyboard.press("3")
    page.locator("#reason").focus()
    with page.expect_response(lambda answer: answer.url.endswith("/draft")):
        page.keyboard.type("Checked by hand")
    page.locator("#extend").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#extend")).to_be_focused()

    other = visitor.open(page.url.replace(console.card["url"], ""))
    expect(other.locator("#reason")).to_have_value("Checked by hand")
    other.keyboard.press("r")
    other.wait_for_url("**/queue")
    expect(page.locator("#claim")).to_contain_text("Nobody holds this")
    expect(page.locator("#decide fieldset").first).to_have_attribute("disabled", "")
    expect(page.locator("#claim-warning")).to_contain_text("What you wrote is kept")
    page.keyboard.press("Shift+C")
    expect(page.locator("#reason")).to_have_value("Checked by hand")
    page.keyboard.press("r")
    page.wait_for_url("**/queue")


def test_one_matter_on_a_phone(console, browser):
    send_failed(console, "on-the-train")
    with Visitor(browser, console.card, size=PHONE) as someone:
        page = someone.open("/queue")
        page.locator("table.queue a.door", has_text="on-the-train").click()
        page.get_by_role("button", name=re.compile("^Claim")).click()
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"]
        assert serious(page) == []
        uphold = page.locator(".reach").get_by_role("button", name="Uphold")
        box = uphold.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert page.locator(".reach").get_by_role("button", name="Override").count() == 0
        uphold.click()
        expect(page.locator("#messages")).to_contain_text("Decided")
        assert someone.complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_minds_nothing_serious(console, browser, theme):
    send_failed(console, f"axe-{theme}")
    with Visitor(browser, console.card, theme=theme) as someone:
        page = someone.open("/queue")
        assert serious(page) == []
        page.locator("table.queue a.door", has_text=f"axe-{theme}").click()
        page.get_by_role("button", name=re.compile("^Claim")).click()
        page.keyboard.press("3")
        assert serious(page) == []
        page.goto("/queue?tab=open")
        page.locator("table.queue tbody input").first.check()
        page.get_by_role("button", name="Hand over").click()
        page.wait_for_url("**/queue/many/*")
        assert serious(page) == []
        for path in (
            "/analytics", "/audit?verify=1", "/settings/queues", "/settings/queues/new",
            "/settings/profile",
            "/settings/notifications", "/settings/deliveries",
        ):  # fmt: skip
            page.goto(path)
            assert serious(page) == [], path
        assert someone.complaints == []
