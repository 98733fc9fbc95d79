"""The host as a process: ready when it says so, silent about secrets, gone with its parent."""

import json
import os
import subprocess
import sys

import httpx
import pytest

from openwop_console.demo.child import ChildHost, HostEnded, HostNotReady, child_host

HOST = [sys.executable, "-m", "openwop_console.demo.host"]


def started(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*HOST, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def test_it_says_where_it_listens_and_nothing_else_and_stops_with_its_parent():
    process = started(
        "--pace", "0", "--until-stdin-closes", "--seed", "s", OPENWOP_DEMO_API_KEY="secret-key"
    )
    url = process.stdout.readline().removeprefix("listening on ").strip()
    headers = {"authorization": "Bearer secret-key"}

    created = httpx.post(f"{url}/v1/runs", json={"workflowId": "travel-desk"}, headers=headers)
    stream = httpx.stream("GET", url + created.json()["eventsUrl"], headers=headers)
    with stream as answer:
        assert answer.status_code == 200
        rest, errors = process.communicate(timeout=60)  # closes its input

    assert url.startswith("http://127.0.0.1:")
    assert created.status_code == 201
    assert process.returncode == 0
    assert "secret-key" not in rest + errors
    assert rest == ""


def test_sigterm_stops_it():
    process = started("--until-stdin-closes")
    process.stdout.readline()

    process.terminate()
    process.communicate(timeout=60)

    assert process.returncode is not None


def test_without_an_api_key_nobody_has_it():
    process = started("--until-stdin-closes", "--api-key", "")
    url = process.stdout.readline().removeprefix("listening on ").strip()

    refused = httpx.get(f"{url}/v1/runs", headers={"authorization": "Bearer x"})
    process.communicate(timeout=60)

    assert refused.status_code == 401


def test_an_unknown_dialect_is_refused():
    process = started("--dialect", "klingon")

    _, errors = process.communicate(timeout=60)

    assert process.returncode == 2
    assert "klingon" in errors


def test_a_child_host_is_gone_after_its_block():
    with child_host(
        console_url="http://127.0.0.1:9", host_key="k", api_key="a", pace_s=0.0
    ) as host:
        assert host.discovery()["protocolVersion"] == "1.0"
        run_id = host.start("contract-summary")
        assert run_id in [run["runId"] for run in host.runs()]
        process = host.process

    assert process.poll() == 0


def test_a_child_host_that_cannot_start_says_so(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")

    with (
        pytest.raises(HostNotReady, match="ended before it listened"),
        child_host(console_url="http://127.0.0.1:9", host_key="k", api_key="a", pace_s=0.0),
    ):
        raise AssertionError("not reached")


def test_a_host_that_died_is_noticed():
    process = started("--until-stdin-closes")
    url = process.stdout.readline().removeprefix("listening on ").strip()
    process.communicate(timeout=60)

    with httpx.Client(base_url=url) as http, pytest.raises(HostEnded, match="has ended"):
        ChildHost(url, http, process).discovery()


def test_recordings_can_be_offered(tmp_path):
    recording = {
        "dialect": "sqlite",
        "workflowId": "recorded",
        "interrupt": {"kind": "approval", "nodeId": "n", "data": {"actions": ["accept"]}},
        "recordings": [{"events": [{"type": "run.started"}, {"type": "node.suspended"}]}],
    }
    (tmp_path / "one.json").write_text(json.dumps(recording))
    process = started(
        "--until-stdin-closes", "--captured", str(tmp_path), "--api-key", "a", "--pace", "0"
    )
    url = process.stdout.readline().removeprefix("listening on ").strip()
    headers = {"authorization": "Bearer a"}

    answers = [
        httpx.post(f"{url}/v1/runs", json={"workflowId": name}, headers=headers).status_code
        for name in ("recorded", "captured:one", "captured:two")
    ]
    process.communicate(timeout=60)

    assert answers == [201, 201, 404]
