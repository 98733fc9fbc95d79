"""A plan is read whole or not at all, and names no judges."""

import pytest

from tests.consensus.building import agents
from verification.domain.consensus.plan import PlanSchema, overlay, specs_of
from verification.domain.consensus.schemas import SchemaMismatch

TEAM = PlanSchema(("worker", "writer"))
JUDGES = agents("ja", "jb")


def task(title="A", **more):
    return {"title": title, "description": "Do it.", **more}


@pytest.mark.parametrize(
    "plan",
    [
        [task()],
        [task(assignee="writer", dependsOn=[])],
        [task(), task("B", dependsOn=["a "])],
        [task(verify=True)],
        [task(verify={})],
        [task(verify={"mode": "lens", "quorum": 9, "maxRounds": 3, "onDissent": "keep"})],
        [task(memoryScope="all", maxRetries=2, retryDelayMs=0, role="lead", priority="high")],
        [task(maxRetries=5, retryDelayMs=30_000, verify={"maxRounds": 10})],
    ],
)
def test_a_plan_this_team_can_run_is_read(plan):
    assert TEAM.read(plan) == plan


@pytest.mark.parametrize(
    "plan",
    [
        [],
        {},
        "plan",
        [task("  ")],
        [{"title": "A"}],
        [task(assignee="stranger")],
        [task(), task("a")],
        [task(dependsOn=["nobody"])],
        [task("A", dependsOn=["B"]), task("B", dependsOn=["A"])],
        [task(judges=["ja"])],
        [task(maxRetries=-1)],
        [task(maxRetries=6)],
        [task(retryDelayMs=30_001)],
        [task(verify={"maxRounds": 11})],
        *(
            [task(verify=odd)]
            for odd in (
                None,
                False,
                1,
                "yes",
                [],
                {"judges": ["ja"]},
                {"verdictSchema": {}},
                {"quorum": 0},
                {"quorum": 1.5},
                {"quorum": True},
                {"maxRounds": "2"},
                {"mode": "debate"},
                {"onDissent": None},
            )
        ),
    ],
)
def test_anything_else_is_refused_as_a_whole(plan):
    with pytest.raises(SchemaMismatch):
        TEAM.read(plan)


def test_a_wish_lies_over_the_callers_judges_field_by_field():
    panel = overlay({"mode": "lens", "quorum": 9}, JUDGES)

    assert (panel.judges, panel.mode, panel.quorum) == (JUDGES, "lens", 9)
    assert (panel.max_rounds, panel.on_dissent, panel.verdict_schema) == (None, None, None)


def test_a_bare_wish_leaves_everything_at_its_default():
    assert overlay(True, JUDGES) == overlay({}, JUDGES)
    assert overlay(True, JUDGES).quorum is None


@pytest.mark.parametrize(("wish", "judges"), [(None, JUDGES), (True, ()), ({"quorum": 1}, ())])
def test_without_a_wish_or_without_judges_nothing_is_verified(wish, judges):
    assert overlay(wish, judges) is None


def test_a_plans_texts_are_trimmed():
    [spec] = specs_of([task(" A ", assignee=" worker ")], ())

    assert (spec.title, spec.assignee) == ("A", "worker")
