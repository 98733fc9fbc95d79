"""The list of runs: what its search finds, and how it says what it shows."""

from pathlib import Path

import pytest

from openwop_console.frame import COMMAND
from runs.queries import run_list
from tests.factories import add_host_named, decided, event, send, verified
from tests.verification.jobs.building import team_started, worked

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client, ada):
    client.force_login(ada)

    def get(query=""):
        answer = client.get(f"/runs{query}")
        assert answer.status_code == 200
        return " ".join(answer.text.split())

    return get


@pytest.fixture
def judged(host):
    """One run in which `writer` decided and `critic.policy` passed it, and one of nobody."""
    send(
        host,
        event(0, "run.started"),
        decided(1, "writer"),
        verified(2, "r-1-e1", "pass", "critic.policy"),
        event(0, "run.started", run="r-2"),
    )


@pytest.mark.parametrize("agent", ["writer", "critic.policy"])
def test_a_run_is_found_by_an_agent_that_judged_or_was_judged(page, judged, agent):
    found = page(f"?q={agent}")

    assert "/runs/alpha/r-1" in found
    assert "/runs/alpha/r-2" not in found


def test_a_run_is_found_by_an_agent_that_only_acted(page, judged, host):
    send(
        host, event(0, "run.started", run="r-3"), *(decided(n, "scout", run="r-3") for n in (1, 2))
    )
    send(host, decided(1, "scribe", run="r-2"), decided(3, "scribe", run="r-3"))

    assert [f"/runs/alpha/r-{n}" in page("?q=scout") for n in (1, 2, 3)] == [False, False, True]
    assert [f"/runs/alpha/r-{n}" in page("?q=scribe") for n in (1, 2, 3)] == [False, True, True]
    assert "No run matches" in page("?q=scou")


def test_an_agent_that_only_acted_is_looked_for_no_further_than_the_page_says(
    page, host, monkeypatch
):
    monkeypatch.setattr(run_list, "SEARCHED_RUNS", 1)
    send(host, event(0, "run.started"), decided(1, "scout"))
    send(host, event(0, "run.started", run="r-2"), decided(1, "scribe", run="r-2"))

    assert "the last 20 results in each of the 500 newest runs" in page()
    assert "/runs/alpha/r-2" in page("?q=scribe")
    assert "No run matches" in page("?q=scout")


def test_a_search_that_did_not_look_through_all_runs_does_not_say_that_it_found_all(
    page, judged, monkeypatch
):
    assert "1 run, all that match" in page("?q=writer")
    monkeypatch.setattr("openwop_console.pages.run_list.SEARCHED_RUNS", 1)

    assert "all that match" not in page("?q=writer")
    assert "all that match" in page("?host=alpha")


def test_other_workspaces_neither_show_their_agents_nor_take_up_the_search(
    page, host, other_host, monkeypatch
):
    monkeypatch.setattr(run_list, "SEARCHED_RUNS", 1)
    send(host, event(0, "run.started"), decided(1, "scout"))
    send(other_host, event(0, "run.started", run="r-9"), decided(1, "spy", run="r-9"))

    assert "No run matches" in page("?q=spy")
    assert "/runs/alpha/r-1" in page("?q=scout")


def test_a_jobs_run_is_found_by_whoever_it_gave_a_task(page, host):
    job = worked(team_started(host))

    assert job.run.run_id in page("?q=ada")
    assert "No run matches" in page("?q=nobody")


def test_an_agent_is_found_by_its_whole_id_only(page, judged):
    assert "No run matches" in page("?q=critic")


def test_the_search_in_force_is_said_as_it_was_typed(page, judged):
    found = page("?q=no_such")

    assert "Search: <b>no_such</b>" in found


def test_one_run_is_not_spoken_of_as_several(page, judged):
    assert "1 run, all that match" in page("?q=writer")


def test_a_passed_gate_is_shown_as_passed(page, judged):
    assert 'data-tone="good"' in page("?q=writer").split("</thead>")[1].split("Passed")[0]


def test_a_host_without_runs_can_be_chosen_and_says_how_to_send_its_first_event(page, judged, host):
    add_host_named("silent", workspace=host.workspace.slug)
    found = page("?host=silent")

    assert '<option value="silent" selected>' in found
    assert "Nothing has reached this Console from silent yet." in found
    assert "No run matches" not in found


def test_a_host_of_another_workspace_is_not_known_of(page, judged, other_host):
    found = page(f"?host={other_host.slug}")

    assert "No run matches" in found
    assert f'<option value="{other_host.slug}"' not in found


def test_an_empty_console_names_the_command_as_the_readme_does(page):
    assert f"<code>{COMMAND} hosts add NAME" in page()
    assert COMMAND in Path("README.md").read_text()
