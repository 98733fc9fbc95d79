"""Two people at one queue: who looks, who holds it, what is lost, what is pressed twice, and what
is left of it all for somebody without scripts."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import a_console
from tests.browser.matters import send_another_fail, send_failed
from tests.browser.people import Visitor
from tests.system.running import Running

pytestmark = [pytest.mark.browser, pytest.mark.system]

LOST = "You do not hold this any more"


@pytest.fixture(scope="module")
def console() -> Iterator[Running]:
    """A Console of its own: the queue holds what these tests put there, and nothing else."""
    with a_console() as running:
        yield running


@pytest.fixture(scope="module")
def mias(console) -> dict[str, str]:
    """The account of a reviewer beside the administrator."""
    added = console.call("people", "add", "mia", "--role", "reviewer", "--json")
    assert added.returncode == 0, added.stderr
    return json.loads(added.stdout)


@pytest.fixture
def mia(console, browser, mias) -> Iterator[Visitor]:
    with Visitor(browser, console.card, account=mias) as someone:
        yield someone
    assert [each for each in someone.complaints if "409" not in each] == []


def door(visitor: Visitor, name: str) -> str:
    """Return the address of the escalation of a run."""
    page = visitor.open("/queue?tab=open")
    found = page.locator("table.queue a.door", has_text=re.compile(f"^{name}$"))
    address = found.get_attribute("href")
    page.close()
    assert address
    return address


def held(page: Page) -> Page:
    expect(page.locator("#claim")).to_contain_text("Nobody holds this")
    page.keyboard.press("Shift+C")
    expect(page.locator("#claim")).to_contain_text("Yours for")
    return page


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.closest('[id]')?.id || 'nothing'"))


def test_each_sees_who_else_looks_and_who_has_left(console, visitor, mia):
    send_failed(console, "looked-at")
    address = door(visitor, "looked-at")
    page, hers = visitor.open(address), mia.open(address)

    expect(page.locator("#others")).to_contain_text("mia is looking")
    expect(hers.locator("#others")).to_contain_text("admin is looking")
    hers.close()
    expect(page.locator("#others")).to_have_text("")


def test_of_two_who_claim_the_second_is_told_who_was_first(console, visitor, mia):
    send_failed(console, "wanted")
    address = door(visitor, "wanted")
    page, hers = visitor.open(address), mia.open(address)
    held(hers)

    expect(page.locator("#claim")).to_contain_text("mia holds this until")
    expect(page.locator("#decide fieldset").first).to_have_attribute("disabled", "")
    page.evaluate("document.querySelector('#move').setAttribute('action', location + '/claim')")
    page.evaluate("document.querySelector('#move').submit()")
    expect(page.locator("#messages")).to_contain_text("Claimed by mia until")


def test_what_was_typed_outlives_a_claim_that_a_lead_took_away(console, visitor, mia):
    send_failed(console, "taken-away")
    address = door(visitor, "taken-away")
    hers, page = held(mia.open(address)), visitor.open(address)
    page.locator("details.lead summary").click()
    page.select_option("select[name=to]", "admin")
    hers.keyboard.press("3")
    hers.locator("#reason").focus()
    hers.keyboard.type("Half a thought")  # which is kept a second later, or when the claim is lost
    page.get_by_role("button", name="Hand over").click()
    expect(page.locator("#claim")).to_contain_text("Yours for")

    expect(hers.locator("#claim-warning")).to_contain_text(LOST)
    expect(hers.locator("#claim-warning")).to_be_visible()
    expect(hers.locator("#decide fieldset").first).to_have_attribute("disabled", "")
    assert focused(hers) == "decision"
    page.keyboard.press("r")
    page.wait_for_url("**/queue")
    held(hers)
    assert hers.locator("#reason").input_value() == "Half a thought"


def test_a_matter_that_is_settled_under_ones_hands_leaves_focus_on_what_became_of_it(
    console, visitor, mia
):
    send_failed(console, "settled")
    address = door(visitor, "settled")
    hers = held(mia.open(address))
    hers.keyboard.press("3")
    hers.locator("#reason").focus()
    page = visitor.open(address)
    page.locator("details.lead summary").click()
    page.get_by_role("button", name="Close as moot").click()
    page.wait_for_url("**/queue")

    expect(hers.locator("#claim")).to_contain_text("Moot")
    expect(hers.locator("#decision")).to_contain_text("nothing left to decide")
    assert focused(hers) == "decision"


def test_a_claim_that_ends_is_announced_and_freezes_the_page_by_the_servers_clock(console, visitor):
    send_failed(console, "slow")
    address = door(visitor, "slow")
    page = visitor.context.new_page()
    page.clock.install(time=0)  # decades behind: only the server's clock counts
    page.goto(address)
    held(page)
    expect(page.locator("#claim time")).to_contain_text(re.compile(r"^9 m \d\d s"))
    page.keyboard.press("3")
    page.locator("#reason").focus()

    page.clock.fast_forward("09:10")
    expect(page.locator("#claim-warning")).to_contain_text("less than a minute")
    page.clock.fast_forward("01:00")
    expect(page.locator("#claim-warning")).to_contain_text(LOST)
    expect(page.locator("#decide fieldset").first).to_have_attribute("disabled", "")
    assert focused(page) == "decision"
    page.close()


def test_a_decision_about_what_has_changed_is_refused_and_loses_no_word(console, visitor, mia):
    send_failed(console, "moved-on")
    hers = held(mia.open(door(visitor, "moved-on")))
    hers.keyboard.press("3")
    hers.locator("#reason").fill("Checked before it changed")
    send_another_fail(console, "moved-on")
    expect(hers.locator("#stale")).to_contain_text("New: fail by critic-2")
    assert focused(hers) == "reason"

    hers.get_by_role("button", name="Only this one").click()
    expect(hers.locator("#messages")).to_contain_text("Changed since you looked")
    assert hers.locator("#reason").input_value() == "Checked before it changed"
    hers.goto(hers.url)  # by GET, as whoever enters the address again
    expect(hers).to_have_url(re.compile(r"/queue/\d+$"))
    assert hers.locator("#reason").input_value() == "Checked before it changed"
    expect(hers.locator("input[value=override]")).to_be_checked()
    hers.get_by_role("button", name="Only this one").click()
    expect(hers.locator("#messages")).to_contain_text("Decided")


def test_pressed_twice_and_gone_back_it_is_decided_once(console, visitor):
    send_failed(console, "eager")
    page = held(visitor.open(door(visitor, "eager")))
    press = "new SubmitEvent('submit', { cancelable: true, bubbles: true })"
    sent = f"document.getElementById('decide').dispatchEvent({press})"
    assert page.evaluate(f"[{sent}, {sent}]") == [True, False], "the second is stopped here"
    page.reload()
    page.keyboard.press("1")
    page.get_by_role("button", name="Only this one").dblclick()

    expect(page.locator("#messages")).to_have_text(re.compile(r"^\s*Decided\.[^.]*\.\s*$"))
    page.goto("/queue")
    page.go_back()
    expect(page.locator("#decision")).to_contain_text("Fail upheld")
    expect(page.locator("#decide")).to_have_count(0)


def test_without_scripts_a_reviewer_claims_decides_and_is_told_no_untruth(
    console, visitor, browser, mias
):
    send_failed(console, "plain")
    with Visitor(browser, console.card, account=mias, has_scripts=False) as someone:
        page = someone.open(door(visitor, "plain"))
        assert not page.locator("#live-state").is_visible()
        page.get_by_role("button", name=re.compile("^Claim")).first.click()
        page.get_by_role("button", name=re.compile("^Extend")).click()
        expect(page.locator("#claim")).to_contain_text("Yours for")
        assert not page.locator("#reason").is_visible()
        page.check("input[value=override]")
        page.fill("#reason", "Read by hand.")
        page.get_by_role("button", name="Only this one").click()
        expect(page.locator("#messages")).to_contain_text("Decided")
        expect(page.locator("#decision")).to_contain_text("by mia")


def test_many_are_handed_over_with_progress_and_an_answer_for_each(console, visitor):
    send_failed(console, *(f"many-{number}" for number in range(25)))
    page = visitor.open("/queue")
    expect(page.get_by_text("that match")).to_be_visible()
    chosen = int(re.findall(r"\d+", page.get_by_text("that match").inner_text())[0])
    one = page.locator("table.queue tbody input").first
    one.check()  # with the mouse: the row's link reaches over the whole row, but not over this
    expect(one).to_be_checked()
    page.check("#pick-all")
    page.get_by_role("button", name="Hand over").click()
    page.wait_for_url("**/queue/many/*")
    expect(page.locator("#progress")).to_contain_text(f"{chosen} chosen")
    page.select_option("select[name=to]", "admin")
    frames: list[str] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda said: frames.append(str(said))),
    )
    page.get_by_role("button", name="Hand over").click()

    expect(page.locator("#progress h1")).to_have_text(
        f"{chosen} of {chosen} handed over", timeout=60_000
    )
    assert any("<progress" in frame for frame in frames), "its progress came by the socket"
    assert page.locator("#items tbody tr", has_text="handed over").count() == chosen
