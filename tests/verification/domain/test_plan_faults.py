"""Why a plan cannot be run: what is explained is what is refused, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus.plan import PlanSchema
from verification.domain.consensus.schemas import SchemaMismatch
from verification.domain.jobs.plan_faults import faults_in

TEAM = ("ada", "ben")


def task(title="Find", **more):
    return {"title": title, "description": "Do it.", **more}


@pytest.mark.parametrize(
    ("plan", "place", "field", "words"),
    [
        ([], None, "", "1 to 100 tasks"),
        ("later", None, "", "1 to 100 tasks"),
        (["Find"], 0, "", "object"),
        ([{"title": "Find"}], 0, "description", "missing"),
        ([task(" ")], 0, "title", "empty"),
        ([task(judges=["me"])], 0, "", "cannot say"),
        ([task(verify=None)], 0, "verify", "Either true"),
        ([task(verify={"judges": ["me"]})], 0, "verify", "never by a plan"),
        ([task(maxRetries="two")], 0, "maxRetries", "whole number"),
        ([task(maxRetries=-1)], 0, "maxRetries", "too small"),
        ([task(maxRetries=6)], 0, "maxRetries", "At most 5 is"),
        ([task(retryDelayMs=30_001)], 0, "retryDelayMs", "At most 30000 is"),
        ([task(verify={"maxRounds": 11})], 0, "verify", "maxRounds (1 to 10)"),
        ([task(priority="soon")], 0, "priority", "low, normal, high, critical"),
        ([task(dependsOn="Find")], 0, "dependsOn", "list of titles"),
        ([task(dependsOn=[""])], 0, "dependsOn", "says something"),
        ([task(), task("find ")], 1, "title", "of its own"),
        ([task(assignee="zoe")], 0, "assignee", "ada, ben"),
        ([task(dependsOn=["Write"])], 0, "dependsOn", "not in the plan"),
        ([task(dependsOn=["B"]), task("B", dependsOn=["Find"])], None, "", "circle"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(plan, place, field, words):
    (fault,) = faults_in(plan, TEAM)

    assert (fault.task, fault.field) == (place, field)
    assert words in fault.sentence


def test_every_fault_of_the_form_is_said_at_once():
    plan = [{"title": "", "description": "x", "maxRetries": 1.5}, {"title": "B"}]

    found = [(fault.task, fault.field) for fault in faults_in(plan, TEAM)]
    assert sorted(found) == [(0, "maxRetries"), (0, "title"), (1, "description")]


ODD = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "ada", "Find", "all"])
NAMES = st.sampled_from(
    ["title", "description", "assignee", "dependsOn", "maxRetries", "verify", "judges", "priority"]
)
TASKS = st.dictionaries(NAMES, ODD | st.lists(ODD, max_size=2)).map(
    lambda odd: {"title": "Find", "description": "Do it.", **odd}
)


@given(st.lists(TASKS | ODD, max_size=3))
def test_a_plan_has_faults_exactly_where_the_team_cannot_run_it(plan):
    try:
        PlanSchema(TEAM).read(plan)
        can_run = True
    except SchemaMismatch:
        can_run = False

    assert (faults_in(plan, TEAM) == []) is can_run
