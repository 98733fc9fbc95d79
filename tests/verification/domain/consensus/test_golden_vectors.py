"""The engine does what was recorded of the original, call by call."""

import copy
import json

import pytest

from tests import consensus_vectors
from tests.consensus.comparison import differences, run
from tests.consensus.deviations import DEVIATIONS
from tests.consensus.fixtures import DERIVED, vectors

VECTORS = vectors()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_engine_does_what_was_recorded(vector):
    report = consensus_vectors.check(vector)

    assert report.differences == ()


@pytest.mark.parametrize("vector", vectors(DERIVED), ids=lambda vector: vector["name"])
def test_the_engine_does_what_was_derived_where_nothing_was_recorded(vector):
    assert consensus_vectors.check(vector).differences == ()


def test_there_is_a_vector_for_every_area():
    areas = {vector["area"] for vector in VECTORS}

    assert len(VECTORS) == 110
    assert areas >= {"quorum", "rounds", "parsing", "budget", "abort", "verify", "runteam"}


@pytest.mark.parametrize(
    "path",
    [
        ("result", "answer"),
        ("result", "dissent", 0),
        ("calls", 1, "promptContains", "answers", "ANSWER-1"),
        ("spans", 1, "events", 0, "attributes", "oma.consensus.accepted"),
        ("sharedMemoryWrites", 0, "value"),
        ("traceEvents", 2, "dissent"),
    ],
)
def test_a_changed_record_is_noticed(path):
    [vector] = [each for each in VECTORS if each["name"].startswith("rounds-04")]
    changed = copy.deepcopy(vector["expected"])
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = "something else"

    assert differences(changed, run(vector))


def test_the_runner_reports_each_vector_and_a_total(tmp_path, capsys):
    (tmp_path / "a.json").write_text(json.dumps(VECTORS[0]))
    (tmp_path / "schema.json").write_text("{}")

    status = consensus_vectors.main(str(tmp_path))

    assert status == 0
    assert capsys.readouterr().out.splitlines() == [
        f"passed  {VECTORS[0]['name']}",
        "1 passed, 0 failed",
    ]


def test_the_runner_fails_when_a_vector_does(tmp_path, capsys):
    wrong = copy.deepcopy(VECTORS[0])
    wrong["expected"]["result"]["answer"] = "something else"
    (tmp_path / "a.json").write_text(json.dumps(wrong))
    (tmp_path / "b.json").write_text("not JSON")

    status = consensus_vectors.main(str(tmp_path))

    assert status == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 2 failed"


def vector_with(**parts):
    return json.dumps(VECTORS[0] | parts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000 + "]" * 100_000,
        json.dumps([VECTORS[0]]),
        json.dumps({key: VECTORS[0][key] for key in VECTORS[0] if key != "formatVersion"}),
        vector_with(formatVersion=2),
        vector_with(name=[1]),
        vector_with(name="a\ud800b", expected=None),
        vector_with(name="passed\n9 passed, 0 failed", expected=5),
        vector_with(operation="runNothing"),
        vector_with(input=[]),
        vector_with(expected={**VECTORS[0]["expected"], "calls": [1], "spans": None}),
    ],
)
def test_what_is_no_vector_fails_on_a_line_of_its_own(tmp_path, capsys, text):
    (tmp_path / "a.json").write_text(text)
    (tmp_path / "b.json").write_text(json.dumps(VECTORS[0]))
    (tmp_path / "c.json").mkdir()

    status = consensus_vectors.main(str(tmp_path))

    lines = capsys.readouterr().out.splitlines()
    assert status == 1
    assert [line.split(" ")[0] for line in lines] == ["FAILED", "passed", "FAILED", "1"]


def test_there_are_exactly_five_deviations_and_each_has_a_reason():
    assert len(DEVIATIONS) == 5
    assert all(deviation.reason and deviation.vectors for deviation in DEVIATIONS)


def test_no_recorded_vector_kept_here_deviates():
    affected = tuple(name for deviation in DEVIATIONS for name in deviation.vectors)

    assert not [vector for vector in VECTORS if vector["name"].startswith(affected)]
