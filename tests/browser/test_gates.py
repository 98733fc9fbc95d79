"""Gates and findings in a real browser: nothing folds up under a reader, evidence leaves whole."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.people import PHONE, Visitor
from tests.factories import capabilities, decided, event, verified

pytestmark = [pytest.mark.browser, pytest.mark.system]


@pytest.fixture(scope="module")
def gating(console, tmp_path_factory):
    """A host that advertises gating, with what it sends by."""
    file = tmp_path_factory.mktemp("gating") / "capabilities.json"
    file.write_text(json.dumps(capabilities(True)))
    added = console.call(
        *("hosts", "add", "gating", "--workspace", "default"),
        *("--capabilities", str(file), "--json"),
    )
    key = json.loads(added.stdout)["key"]

    def send(*events):
        answer = httpx.post(
            f"{console.card['url']}/api/v1/events",
            json={"events": list(events)},
            headers={"Authorization": f"Bearer {key}"},
        )
        assert answer.is_success, answer.text

    send.key = key
    return send


def story(run, *more):
    return [event(0, "run.started", run=run), decided(1, run=run), *more]


def test_what_a_reader_has_opened_stays_open_when_news_comes(visitor, gating):
    gating(*story("folds", verified(2, "folds-e1", "pass", run="folds")))
    page = visitor.open("/runs/gating/folds")
    expect(page.locator("#live-state")).to_contain_text("Live")
    page.locator("#run-gates details summary").click()
    expect(page.locator(".chain")).to_contain_text("pass by critic-1")

    gating(decided(3, node="n2", run="folds"), verified(4, "folds-e3", "fail", run="folds"))
    expect(page.locator("#run-gates")).to_contain_text("Blocked")

    opened = page.locator("#run-gates details", has=page.locator('[title="folds-e1"]'))
    expect(opened).to_have_attribute("open", "")


def test_a_key_jumps_from_a_verdict_to_its_subject_and_back(visitor, gating):
    gating(*story("jumps", verified(2, "jumps-e1", "fail", run="jumps")))
    page = visitor.open("/runs/gating/jumps")
    page.locator("#line-3 .seq").focus()

    page.keyboard.press("t")
    expect(page.locator("#line-2 .seq")).to_be_focused()
    page.keyboard.press("t")
    expect(page.locator("#line-3 .seq")).to_be_focused()


def test_evidence_leaves_whole_and_is_checked_without_the_console(visitor, gating, tmp_path):
    gating(*story("violated", verified(2, "violated-e1", "fail", run="violated")))
    gating(event(3, "run.completed", run="violated"))
    page = visitor.open("/runs/gating/violated")
    page.get_by_role("link", name="Evidence").first.click()
    expect(page.locator("h1")).to_have_text("Success after fail")
    with page.expect_download() as download:
        page.get_by_role("link", name="Signed evidence").click()
    file = tmp_path / "evidence.json"
    download.value.save_as(file)
    command = page.locator(".code pre", has_text="evidence verify").inner_text()
    key = re.search(r"--key (\S+)", command)[1]

    def verify():
        words = [sys.executable, "-m", "openwop_console", "evidence", "verify", str(file)]
        return subprocess.run([*words, "--key", key], capture_output=True, text=True, check=False)

    whole = verify()
    assert (whole.returncode, "success_after_fail (violation" in whole.stdout) == (0, True)
    file.write_text(file.read_text().replace('"fail"', '"pass"', 1))
    assert verify().returncode == 1


def test_a_build_that_waits_at_the_gate_goes_on_when_the_verdict_comes(console, gating):
    gating(*story("build"))
    words = ("gate", "check", "build-e1", "--run", "build", "--key", gating.key)
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(console.call, *words, "--wait", "60")
        assert console.call(*words).returncode == 3
        gating(verified(2, "build-e1", "pass", run="build"))
        passed = waiting.result(timeout=60)

    assert (passed.returncode, passed.stdout.strip()) == (0, "pass (verdict)")


def test_a_finding_is_withdrawn_before_the_readers_eyes(visitor, gating):
    fail = verified(2, "eyes-e1", "fail", run="eyes")
    gating(*story("eyes", fail, event(4, "run.completed", run="eyes")))
    page = visitor.open("/findings?run=eyes")
    page.get_by_role("link", name="Success after fail").click()
    expect(page.locator("#finding-said")).to_contain_text("Not provable")

    gating(verified(3, "eyes-e1", "pass", run="eyes"))
    expect(page.locator("#finding-said")).to_contain_text("The missing events arrived: 3.")
    expect(page.locator("#finding-said")).to_contain_text("Withdrawn")


@pytest.mark.parametrize(("size", "theme"), [(None, "light"), (PHONE, "dark")])
def test_everybody_can_read_it(console, browser, gating, size, theme):
    run = f"reads-{theme}"
    gating(*story(run, verified(2, f"{run}-e1", "fail", run=run, confidence=0.3)))
    gating(event(3, "run.completed", run=run))
    chosen = {"theme": theme} if size is None else {"size": size, "theme": theme}
    with Visitor(browser, console.card, **chosen) as someone:
        for path in (f"/runs/gating/{run}", f"/runs/gating/{run}?at=3", "/findings"):
            page = someone.open(path)
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            found = Axe().run(page).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
            assert wide <= 0
