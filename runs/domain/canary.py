"""The run ids of connection tests.

What is sent under them goes the way of every event, and is taken back before it can be seen. A run
id is one of these while its test is under way, and afterwards nobody's: events that carry it are
refused, so that no forgotten script leaves a run behind.
"""

from collections.abc import Sequence
from datetime import timedelta

from runs.domain.refusals import VALIDATION_ERROR, Refused

BEGINNING = "console-canary-"
OPEN_FOR = timedelta(minutes=10)
"""How long after it was asked for a test hears what the host itself sends."""
_OURS = "-ours"


def canary_run(word: str, tenant: str = "") -> str:
    """Return the run id of a test; `word` is of 32 hex digits, so that nobody guesses it."""
    return f"{tenant}/{BEGINNING}{word}" if tenant else f"{BEGINNING}{word}"


def sent_by_us(run_id: str) -> str:
    """Return the run id under which the Console itself tries the doors, for a test's run id."""
    return run_id + _OURS


def test_run(run_id: str) -> str:
    """Return the run id of the test, whoever sends."""
    return run_id.removesuffix(_OURS)


def is_canary(run_id: object) -> bool:
    """Say whether a run id is one that a test has, or had."""
    if not isinstance(run_id, str) or BEGINNING not in run_id:
        return False
    return run_id.rpartition("/")[2].startswith(BEGINNING)


def any_in(items: Sequence[tuple[int, object]]) -> bool:
    """Say whether one of these events is sent for a test."""
    for _, item in items:  # every event of every request comes by here
        run_id = item.get("runId") if type(item) is dict else _run_of(item)
        if type(run_id) is str and BEGINNING in run_id and is_canary(run_id):
            return True
    return False


def only_run_in(items: Sequence[tuple[int, object]]) -> str:
    """Return the one run that all of these events are of; empty where they are of several."""
    first = _run_of(items[0][1])
    is_only = all(_run_of(item) == first for _, item in items)
    return first if is_only and isinstance(first, str) else ""


def refused_in(items: Sequence[tuple[int, object]]) -> list[tuple[int, object]]:
    """Return the events with those that are sent for a test refused, and nothing held by them."""
    return [(at, REFUSED if is_canary(_run_of(item)) else item) for at, item in items]


def _run_of(item: object) -> object:
    if isinstance(item, Refused):
        return item.run_id
    return item.get("runId") if isinstance(item, dict) else None


REFUSED = Refused(VALIDATION_ERROR, "canary_over", "/runId")
"""The test is over, or its events came together with others."""
