"""Fifty jobs at once: how fast they go, how long they wait, and what ingest notices of them.

Ingest is measured in turn without jobs and with them, by one connection that sends single events;
the ratio counts, for the machine is shared.
"""

import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.bench.traffic import Post, lines_to, run_of
from tests.model_server import Call, accepts, model_server, says
from tests.system.conftest import folder, serve
from tests.system.running import Running, descendants_of, eventually
from tests.verification.jobs.building import LONG_ENOUGH, NO_SHOUTING, SOLVER, THREE

__all__ = ["folder", "serve"]
pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

JOBS = 50
ROUNDS = 3
QUIET_S = 5.0
CALL_S = 0.2
BY_RULES = {"answer": "100 degrees at sea level.", "judges": [LONG_ENOUGH, NO_SHOUTING]}
BY_MODELS = {"proposer": SOLVER, "judges": THREE}


@pytest.fixture
def models() -> Iterator[str]:
    """Models that take a while, as models do, and cost this machine next to nothing."""

    def slowly(answer: Any) -> Any:
        def after_a_while(call: Call) -> None:
            time.sleep(CALL_S)
            answer(call)

        return after_a_while

    with model_server() as server:
        server.tell(solver=slowly(says("It boils at 100 degrees.")))
        for judge in THREE:
            server.answers[judge["name"]] = [slowly(accepts)]
        yield server.url


@dataclass(frozen=True)
class Bench:
    """A started Console, and a client of its API."""

    console: Running
    api: httpx.Client

    @property
    def slow_worker_mib(self) -> float:
        """Memory of the worker of jobs with its processes, shared parts shared out."""
        worker = self.console.child("slow-worker")
        return sum(map(_pss_mib, [worker, *descendants_of(worker)]))

    def posts(self, for_s: float) -> list[float]:
        """Send single events for a while; return what each took, in milliseconds."""
        key, took = str(self.console.card["host"]["key"]), []
        until = time.perf_counter() + for_s
        with lines_to(int(self.console.card["url"].rpartition(":")[2]), 1) as (line,):
            for event in run_of(100_000):
                post = Post.of(json.dumps(event).encode(), key)
                began = time.perf_counter()
                line.send(post)
                took.append((time.perf_counter() - began) * 1000)
                if time.perf_counter() > until:
                    break
        return took

    def start(self, document: dict[str, Any], count: int = JOBS) -> list[str]:
        """Start the jobs; return their ids."""
        return [
            self.api.post("/api/v1/consensus", json={"prompt": f"Question {n}?", **document})
            .raise_for_status()
            .json()["id"]
            for n in range(count)
        ]

    def unfinished(self) -> bool:
        """Say whether a job is still to be done."""
        return any(
            self.api.get("/api/v1/jobs", params={"state": state}).json()["jobs"]
            for state in ("queued", "running")
        )


@pytest.fixture
def bench(serve, models) -> Iterator[Bench]:
    console = serve(
        env={
            "OPENWOP_CONSOLE_MODELS": ",".join(f"compatible:{each}" for each in NAMES),
            "OPENWOP_CONSOLE_COMPATIBLE_URL": models,
        }
    )
    headers = {"Authorization": f"Bearer {console.card['host']['key']}"}
    with httpx.Client(base_url=console.card["url"], headers=headers, timeout=60) as client:
        yield Bench(console, client)


NAMES = ("solver", "judge-a", "judge-b", "judge-c")


@pytest.mark.parametrize(
    "document", [BY_RULES, BY_MODELS], ids=["judged by rules", "judged by models"]
)
def test_fifty_jobs_at_once(bench: Bench, document: dict[str, Any]):
    bench.start(document, 2)  # the worker may still be starting
    eventually(lambda: not bench.unfinished(), within_s=120)
    bench.posts(QUIET_S)
    idle_mib = bench.slow_worker_mib
    without, with_jobs, ratios, waits, rates = [], [], [], [], []
    most_mib = idle_mib
    for _ in range(ROUNDS):
        quiet = bench.posts(QUIET_S)
        began = time.perf_counter()
        ids = bench.start(document)
        busy: list[float] = []
        while bench.unfinished():
            busy += bench.posts(1)
            most_mib = max(most_mib, bench.slow_worker_mib)
        rates.append(JOBS / (time.perf_counter() - began))
        jobs = [bench.api.get(f"/api/v1/jobs/{each}").json() for each in ids]
        assert {job["verdict"] for job in jobs} == {"pass"}
        waits += [_seconds(job["createdAt"], job["startedAt"]) for job in jobs]
        without.append(statistics.median(quiet))
        with_jobs.append(statistics.median(busy))
        ratios.append(with_jobs[-1] / without[-1])
    waits.sort()
    print(
        f"\n{JOBS} jobs at once, {ROUNDS} rounds"
        f"\n  throughput        {statistics.median(rates) * 60:>8.0f} jobs a minute"
        f"\n  waited in line    {statistics.median(waits):>8.1f} s median, {waits[-1]:.1f} s most"
        f"\n  worker's memory   {idle_mib:>8.0f} MiB before, {most_mib:.0f} MiB at most"
        f"\n  ingest p50        {statistics.median(without):>8.1f} ms without,"
        f" {statistics.median(with_jobs):.1f} ms with them"
        f"\n  ratio             {statistics.median(ratios):>8.2f}  {[round(r, 2) for r in ratios]}"
    )


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def _pss_mib(pid: int) -> float:
    rolled = Path(f"/proc/{pid}/smaps_rollup").read_text()
    (line,) = (each for each in rolled.splitlines() if each.startswith("Pss:"))
    return int(line.split()[1]) / 1024
