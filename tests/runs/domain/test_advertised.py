"""A document that only says when it was written advertises nothing new."""

import pytest

from runs.domain.advertised import is_same

DOCUMENT = {
    "protocolVersion": "1.0",
    "limits": {"maxLoopIterations": 3},
    "multiAgent": {
        "executionModel": {
            "version": 6,
            "verifier": {"supported": True, "gating": True},
            "experimentalUntil": "2027-01-01",
        }
    },
    "auth": {"lanes": [{"lane": "api-key", "since": "2026-01-01"}]},
}


@pytest.mark.parametrize(
    "name", ["generatedAt", "server_time", "Timestamp", "requestId", "up-time"]
)
def test_what_is_of_the_moment_changes_nothing_wherever_it_stands(name):
    one = DOCUMENT | {name: "a", "auth": {**DOCUMENT["auth"], name: 1}}
    other = DOCUMENT | {name: "b"}

    assert is_same(one, other)
    assert is_same(one, DOCUMENT)


@pytest.mark.parametrize(
    "changed",
    [
        {"protocolVersion": "2.0"},
        {"limits": {"maxLoopIterations": 4}},
        {"limits": {}},
        {"multiAgent": {"executionModel": {"version": 6, "verifier": {"supported": True}}}},
        {"auth": {"lanes": [{"lane": "api-key", "since": "2026-02-01"}]}},
        {"auth": {"lanes": []}},
        {"implementation": {"name": "x", "version": "2"}},
        {"extensions": {"acme": {"model": "new"}}},
    ],
    ids=str,
)
def test_whatever_else_differs_is_advertised_anew(changed):
    assert not is_same(DOCUMENT, DOCUMENT | changed)
