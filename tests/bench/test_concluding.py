"""How much processor time it takes to conclude from a very large run."""

import time

import pytest

from runs.domain.projection import project
from tests.logs import GATING, completed, line, started, turn, verdict
from verification.domain.conclude import conclude
from verification.domain.rules import Rules

pytestmark = pytest.mark.bench

MANY = 10_000
SAID = ("pass", "fail", "revise")


def mixed():
    """Ten thousand turns at fifty nodes, each with a verdict of one of five verifiers."""
    yield started()
    for at in range(MANY):
        yield turn(2 * at + 1, f"n{at % 50}", f"worker-{at % 7}")
        yield verdict(2 * at + 2, f"e{2 * at + 1}", SAID[at % 3], f"critic-{at % 5}")
    yield completed(2 * MANY + 1)


def all_violated():
    """Ten thousand results that failed, in a run that ended as a success: the most to say."""
    yield started()
    for at in range(MANY):
        yield turn(2 * at + 1, f"n{at}")
        yield verdict(2 * at + 2, f"e{2 * at + 1}", "fail")
    yield completed(2 * MANY + 1)


def ordinary():
    """Ten thousand lines without a verdict."""
    yield started()
    for at in range(MANY // 2):
        yield line(2 * at + 1, "node.started", None, f"n{at}")
        yield line(2 * at + 2, "node.completed", {"outputs": {}}, f"n{at}")
    yield completed(MANY + 1)


@pytest.mark.parametrize("made", [mixed, all_violated, ordinary], ids=lambda each: each.__name__)
def test_how_long_concluding_takes(made):
    lines = list(made())

    begun = time.process_time()
    run = project(lines)
    projected = time.process_time()
    found = conclude(lines, (), GATING, (), Rules())
    took_s = time.process_time() - projected

    print(
        f"\n{made.__name__}: {len(lines)} lines, {len(found.gates)} gates, "
        f"{len(found.findings)} findings, {len(found.escalations)} escalations; "
        f"project {1000 * (projected - begun):.1f} ms, conclude {1000 * took_s:.0f} ms"
    )
    assert run.is_terminal
    assert took_s < 5
