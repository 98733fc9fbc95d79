"""Runs go out as their hosts sent them, and come in again as the same runs."""

import hashlib
import json

import pytest
from click.testing import CliRunner

from openwop_console.cli import export, main
from runs.actions.ingest import Body, ingest
from runs.models import Run
from runs.queries.api import run_document
from tests.factories import add_host_named, decided, event, send, verified
from tests.recorded import DIALECTS, recorded
from verification.models import Finding, Gate

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(export, "adopt", lambda folder: None)  # the tables of this test
    return lambda *words: CliRunner().invoke(main, ["export", *map(str, words)])


def judged(host) -> dict[str, object]:
    """Return what is known of a host's runs, without what is a place or a moment."""
    own = {"host", "lastEventAt", "firstSeenAt", "lastPosition"}
    runs = {
        each.run_id: {k: v for k, v in run_document(each).items() if k not in own}
        for each in Run.objects.filter(host=host).select_related("host")
    }
    gates = Gate.objects.filter(run__host=host).values_list("run__run_id", "target", "state")
    found = Finding.objects.filter(run__host=host).values_list("run__run_id", "kind", "target")
    return {"runs": runs, "gates": sorted(gates), "findings": sorted(found)}


def taken(host, path):
    return ingest(host=host, body=Body(path.read_bytes(), "application/x-ndjson"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_was_recorded_of_a_host_makes_the_same_runs_elsewhere(run, host, tmp_path, dialect):
    for each in recorded(dialect):
        named = {"runId": each.label}
        send(host, *({**e, **named, "eventId": f"e-{n}"} for n, e in enumerate(each.events)))
    file = tmp_path / "runs.jsonl"

    told = run(file, "--host", host.slug)
    elsewhere = add_host_named("beta", workspace="w2")
    for lines in file.read_bytes().splitlines(keepends=True):
        (tmp_path / "one").write_bytes(lines)
        taken(elsewhere, tmp_path / "one")

    assert told.exit_code == 0, told.output
    assert judged(elsewhere) == judged(host)
    assert hashlib.sha256(file.read_bytes()).hexdigest() in told.stderr


def test_sent_to_where_they_came_from_they_change_nothing(run, host, tmp_path):
    send(host, event(0, "run.started", vendorNote="x"), decided(1), verified(2, "r-1-e1", "fail"))
    before, file = judged(host), tmp_path / "runs.jsonl"

    run(file)
    receipt = taken(host, file)

    assert (receipt.accepted, receipt.duplicates, receipt.rejected) == (0, 3, [])
    assert judged(host) == before


def test_only_the_named_runs_go_out(run, host, tmp_path):
    for name in ("r-1", "r-2", "r-3"):
        send(host, event(0, "run.started", run=name))
    file = tmp_path / "runs.jsonl"

    run(file, "--run", "r-1", "--run", "r-3")

    assert [json.loads(line)["runId"] for line in file.read_text().splitlines()] == ["r-1", "r-3"]


def test_to_the_terminal_go_events_and_nothing_else(run, host):
    send(host, event(0, "run.started"))

    shown = run("-")

    assert json.loads(shown.stdout)["eventId"] == "r-1-e0"
    assert "1 run, 1 event, sha256 " in shown.stderr


@pytest.mark.parametrize("wrong", [("--run", "nope"), ("--host", "nope")])
def test_a_name_that_names_nothing_is_an_error(run, host, tmp_path, wrong):
    refused = run(tmp_path / "runs.jsonl", *wrong)

    assert refused.exit_code == 1
    assert "There is no" in refused.stderr
