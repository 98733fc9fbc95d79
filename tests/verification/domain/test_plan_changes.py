"""A plan as proposed beside the plan as run: what was left open is not what was changed."""

from verification.domain.jobs.plan_changes import digest, lines

PANEL = {
    "judges": ["calm", "length"], "mode": "refute", "quorum": 1, "maxRounds": 2,
    "onDissent": "revise",
}  # fmt: skip


def task(title, **more):
    return {"title": title, "description": "Do it.", **more}


def changes(proposed, resolved):
    return [(line.title, line.change) for line in lines(proposed, resolved)]


def fields(proposed, resolved):
    (line,) = lines([proposed], [resolved])
    return {field.name: field.change for field in line.fields}


def test_what_the_plan_left_open_is_filled_in():
    found = fields(task("Find", verify=True), task("Find", assignee="ada", verify=PANEL))

    assert found == {
        "description": "same", "assignee": "filled", "dependsOn": "same", "verify": "filled"
    }  # fmt: skip


def test_what_the_plan_said_and_is_run_otherwise_is_changed():
    proposed = task("Find", assignee="ada", dependsOn=["A"], verify={"quorum": 9})
    resolved = task("find ", assignee="ben", dependsOn=[], verify=PANEL) | {"description": "Now."}

    assert set(fields(proposed, resolved).values()) == {"changed"}


def test_a_wish_to_verify_that_nobody_can_meet_is_a_change():
    assert fields(task("Find", verify=True), task("Find", verify=None))["verify"] == "changed"


def test_tasks_are_added_and_taken_out():
    found = changes([task("Find"), task("Check")], [task("Find", verify=None), task("Write")])

    assert found == [("Find", "same"), ("Write", "added"), ("Check", "removed")]


def test_the_panel_is_told_in_words():
    (line,) = lines([task("Find", verify=True)], [task("Find", verify=PANEL)])
    said = {field.name: (field.before, field.after) for field in line.fields}

    assert said["verify"] == ("yes", "1 of calm, length; 2 rounds; revise; refute")


def test_a_digest_is_of_what_a_plan_says_and_not_of_how_it_is_written():
    assert digest([{"title": "A", "b": 1}]) == digest([{"b": 1, "title": "A"}])
    assert digest([task("A"), task("B")]) != digest([task("B"), task("A")])
