"""Teams in a real browser: a plan is approved, its tasks are watched live, a person lets one count.

Members say what was given to them and rules judge, so everything but the models is real.
"""

import re

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.people import PHONE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.system]

JUDGES = [{"name": "calm", "model": "rule:must-not-match", "settings": {"pattern": "!!"}}]
TITLES = ("Find", "Check", "Write")


def team(replies=None, pause=0, **more):
    """Return a request for a team whose three tasks lead to an answer."""
    said = dict.fromkeys(TITLES, "It boils at 100 degrees.") | (replies or {})
    plan = [
        {"title": "Find", "description": "Find it.", "verify": True},
        {"title": "Check", "description": "Check it.", "verify": True},
        {"title": "Write", "description": "Write it.", "dependsOn": ["Find", "Check"]},
    ]
    return {
        "operation": "runTeam",
        "goal": "Say when water boils.",
        "team": [
            {
                "name": "ada",
                "model": "given",
                "settings": {"replies": said, "pauseSeconds": pause},
            }
        ],
        "coordinator": {
            "name": "lead",
            "model": "given",
            "settings": {"plan": plan, "answer": "At 100 degrees."},
        },
        "verifyJudges": JUDGES,
        **more,
    }


@pytest.fixture
def started(console):
    """Start jobs as the first host does, and return the paths of their pages."""

    def start(document):
        answer = httpx.post(
            f"{console.card['url']}/api/v1/jobs",
            json=document,
            headers={"Authorization": f"Bearer {console.card['host']['key']}"},
        )
        assert answer.status_code == 202, answer.text
        return f"/jobs/{answer.json()['id']}"

    return start


def test_what_somebody_says_is_asked_for_only_where_it_is_given(visitor):
    page = visitor.open("/jobs/new?operation=runTeam")
    title, answer = page.locator("#task-1-title"), page.locator("#task-1-answer")
    expect(page.locator("#goal")).to_be_visible()
    expect(title).to_be_hidden()

    page.locator("#coordinator-model").select_option("given")
    expect(page.locator("#coordinator-answer")).to_be_visible()
    expect(title).to_be_visible()
    expect(answer).to_be_hidden()

    page.locator("#member-1-model").select_option("given")
    expect(answer).to_be_visible()


def test_a_team_is_started_its_plan_approved_and_its_tasks_watched_live(visitor):
    page = visitor.open("/jobs/new?operation=runTeam")
    page.get_by_role("link", name="Fill in the example").click()
    page.get_by_role("button", name="Start Ctrl").click()
    page.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}$"))
    expect(page.locator("#job-asked")).to_contain_text("May this plan be run?")

    deciding = visitor.open(page.url)
    deciding.get_by_role("link", name="Read and decide").click()
    deciding.get_by_role("button", name="Approve and start").click()
    deciding.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}$"))

    # The first page has not been touched since: everything below arrives by itself.
    expect(page.locator("#job-asked")).not_to_contain_text("May this plan")
    expect(page.locator("a.node")).to_have_count(3)
    first = page.locator("#fold-1")
    first.locator("summary").click()
    expect(first).to_contain_text("Dissent")
    expect(page.locator("#job-outcome")).to_contain_text("Every task was done")
    expect(page.locator("#job-outcome")).to_contain_text("3 of 3 tasks ended")
    expect(page.locator("#job-state")).to_contain_text("By quorum")
    expect(page.locator("a.node[data-state=completed]")).to_have_count(3)
    expect(page.locator("#job-answer")).to_contain_text("Queen Victoria")
    expect(first).to_have_attribute("open", "")  # what a reader opened stays open
    expect(first.locator(".votes tbody tr")).to_have_count(2)
    visitor.picture(page, "team")


def test_a_plan_that_waits_reaches_whoever_works_the_queue_until_one_of_two_has_decided(
    visitor, started
):
    queue = visitor.open("/queue")
    expect(queue.locator("#queue-plans")).to_be_empty()
    path = started(team(approvePlan=True))
    expect(queue.locator("#queue-plans")).to_contain_text("A team's plan waits for a person")
    queue.get_by_role("button", name="Notifications").click()
    expect(queue.locator("#bell-list")).to_contain_text("Plan of team")
    visitor.picture(queue, "plan-bell")

    first, second = visitor.open(f"{path}/plan"), visitor.open(f"{path}/plan")
    first.locator("#task-1-description").fill("Find it at sea level.")
    first.get_by_role("button", name="Approve and start").click()
    first.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}$"))
    expect(queue.locator("#queue-plans")).to_be_empty()
    expect(queue.locator("#bell-list")).not_to_contain_text("Plan of team")

    expect(second.locator("#plan-late")).to_contain_text("The plan was already decided by")
    second.get_by_role("button", name="Approve and start").click()
    expect(second.get_by_role("alert")).to_contain_text("The plan was already decided by")
    expect(second.locator("main")).to_contain_text("How the plan that is run differs from yours")
    expect(second.locator("ins")).to_have_text("Find it at sea level.")
    visitor.picture(second, "plan-late")
    (refused,) = visitor.complaints
    assert "409 (Conflict)" in refused
    visitor.complaints.clear()


def test_a_node_is_reached_and_opened_by_keyboard(visitor, started):
    page = visitor.open(started(team()))
    expect(page.locator("#job-outcome")).to_contain_text("3 of 3 tasks ended")
    page.locator("[aria-label='Task graph']").focus()

    page.keyboard.press("Tab")
    expect(page.locator("#node-1")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#task-2")).to_be_visible()
    expect(page.locator("#task-2")).to_be_in_viewport()


def test_a_person_lets_a_result_count_and_the_waiting_task_goes_on(visitor, started):
    path = started(team({"Find": ["Hot!!", "Very hot!!"]}, onRejected="pause"))
    page = visitor.open(path)
    asked = page.locator("#job-asked")
    expect(asked).to_contain_text("May the result of task 1 count?")
    expect(page.locator("#node-3")).to_have_attribute("data-state", "blocked")

    review = visitor.open(path)
    review.get_by_role("link", name="Decide in the queue").click()
    review.get_by_role("button", name=re.compile("^Claim")).click()
    review.get_by_text("Override to pass").click()
    review.locator("#reason").fill("It is hot enough.")
    review.get_by_role("button", name=re.compile("^Decide")).click()

    expect(page.locator("#job-outcome")).to_contain_text("a person let a result count")
    expect(page.locator("#node-3")).to_have_attribute("data-state", "completed")
    expect(asked).not_to_contain_text("May the result")


@pytest.mark.parametrize(("size", "theme"), [(None, "light"), (PHONE, "dark")])
def test_everybody_can_read_it(console, browser, started, size, theme):
    chosen = {"theme": theme} if size is None else {"size": size, "theme": theme}
    done = started(team())
    waits = started(team({"Find": ["Hot!!", "Hot!!"]}, onRejected="pause"))
    plan = started(team(approvePlan=True))
    with Visitor(browser, console.card, **chosen) as someone:
        for path, sign in (
            (done, "3 of 3 tasks ended"),
            (waits, "May the result of task 1 count?"),
            (plan, "May this plan be run?"),
            (f"{plan}/plan", "May this plan be run?"),
            ("/jobs/new?operation=runTasks&example=1", "What is to be done"),
            ("/jobs/new?operation=runTeam&example=1", "What is to be reached"),
            ("/jobs/new?operation=json", "As JSON"),
            ("/jobs", "Progress"),
        ):
            page = someone.open(path)
            expect(page.locator("main")).to_contain_text(sign, timeout=30_000)
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            found = Axe().run(page).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
            assert wide <= 0
    assert someone.complaints == []
