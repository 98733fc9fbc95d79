"""What ingest costs, against bare COPY of the same rows on the same server in the same minutes.

Wall-clock figures of a shared machine mean little; ratios do, and the processor time does.
"""

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx
import pytest

from runs.domain.batch import Form, events_of
from runs.domain.envelope import read
from runs.domain.limits import Limits
from tests.bench.traffic import Line, Post, all_sent, batches, lines_to, run_of
from tests.bench.yardstick import Yardstick
from tests.system.running import Running, children_of

pytestmark = pytest.mark.bench

CONNECTIONS = 4
ROUNDS = 3
RUNS_A_CONNECTION = 10
SIZE = 100
RUN_OF = 500
TICKS_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Bench:
    """A running Console, and what may be done to it."""

    console: Running
    yardstick: Yardstick
    kept_rows: list[list[bytes]] = field(default_factory=list)
    """Those of the last round, to measure with before the next one."""

    @property
    def port(self) -> int:
        return int(self.console.card["url"].rpartition(":")[2])

    @property
    def key(self) -> str:
        return str(self.console.card["host"]["key"])

    def cpu_s(self) -> dict[str, float]:
        """Return the processor seconds that each part has used so far."""
        return {
            "web": _cpu_s([self.console.child("web")]),
            "postgresql": _cpu_s(children_of(self.console.child("postgres"))),
        }


def _cpu_s(pids: list[int]) -> float:
    used = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used += int(fields[11]) + int(fields[12])
    return used / TICKS_S


@pytest.fixture
def lines(bench: "Bench") -> Iterator[list[Line]]:
    with lines_to(bench.port, CONNECTIONS) as opened:
        yield opened


@pytest.fixture(scope="module")
def bench(console: Running) -> Iterator[Bench]:
    yardstick = Yardstick(console.card["databaseUrl"], CONNECTIONS)
    yield Bench(console, yardstick)
    yardstick.close()


@pytest.mark.parametrize("verdict_every", [0, 100, 25])
def test_batches_of_a_hundred_over_four_connections(bench: Bench, verdict_every: int):
    rounds = [one_round(bench, verdict_every) for _ in range(ROUNDS)]

    def median(name: str) -> float:
        return statistics.median(getattr(each, name) for each in rounds)

    mix = f"a verdict in {verdict_every} events" if verdict_every else "no verdicts"
    print(
        f"\n{SIZE} events a request, {CONNECTIONS} connections, {ROUNDS} rounds, {mix}"
        f"\n  stored            {median('stored'):>10,.0f} events/s"
        f"\n  bare COPY         {median('copied'):>10,.0f} rows/s"
        f"\n  ratio             {median('ratio'):>10.2f}  {[round(r.ratio, 2) for r in rounds]}"
        f"\n  web process       {median('web_us'):>10.1f} µs of processor an event, of which"
        f"\n    reading events  {reading_us(verdict_every):>10.1f}"
        f"\n  PostgreSQL        {median('postgresql_us'):>10.1f} µs of processor an event"
    )
    assert all(each.stored for each in rounds)


@dataclass(frozen=True)
class Round:
    """What one round showed; COPY was measured before and after."""

    stored: float
    copied: float
    web_us: float
    postgresql_us: float

    @property
    def ratio(self) -> float:
        return self.stored / self.copied


def one_round(bench: Bench, verdict_every: int) -> Round:
    count = CONNECTIONS * RUNS_A_CONNECTION * RUN_OF
    runs = [
        [list(run_of(RUN_OF, verdict_every=verdict_every)) for _ in range(RUNS_A_CONNECTION)]
        for _ in range(CONNECTIONS)
    ]
    posts = [
        [Post.of(body, bench.key) for run in mine for body in batches(iter(run), SIZE)]
        for mine in runs
    ]
    before = copied(bench.yardstick, bench.kept_rows) if bench.kept_rows else None
    with lines_to(bench.port, CONNECTIONS) as lines:
        jobs = [
            [partial(line.send, post) for post in mine]
            for line, mine in zip(lines, posts, strict=True)
        ]
        used = bench.cpu_s()
        stored = count / all_sent(jobs)
        spent = {part: seconds - used[part] for part, seconds in bench.cpu_s().items()}
    rows = [bench.yardstick.rows([run[0]["runId"] for run in mine]) for mine in runs]
    bench.kept_rows[:] = rows
    after = copied(bench.yardstick, rows)
    return Round(
        stored=stored,
        copied=after if before is None else statistics.mean([before, after]),
        web_us=spent["web"] / count * 1e6,
        postgresql_us=spent["postgresql"] / count * 1e6,
    )


def reading_us(verdict_every: int) -> float:
    """Return what it costs to turn a request into checked events, before anything is asked."""
    limits = Limits()
    [body] = batches(run_of(SIZE, verdict_every=verdict_every), SIZE)
    now = datetime.now(UTC)
    took = []
    for _ in range(50):
        began = time.process_time()
        for _, document in events_of(body, Form.JSON, limits).items:
            read(document, now=now, limits=limits)
        took.append(time.process_time() - began)
    return statistics.median(took) / SIZE * 1e6


def copied(yardstick: Yardstick, rows: list[list[bytes]]) -> float:
    """Store the rows by COPY and return the rows a second."""
    yardstick.empty()
    jobs = [
        [
            partial(yardstick.copy, connection, b"".join(mine[start : start + SIZE]))
            for start in range(0, len(mine), SIZE)
        ]
        for connection, mine in zip(yardstick.connections, rows, strict=True)
    ]
    return sum(map(len, rows)) / all_sent(jobs)


def test_one_event_at_a_time(bench: Bench, lines: list[Line]):
    connection = bench.yardstick.connections[0]
    ours, bare = [], []
    for _ in range(ROUNDS):
        run = list(run_of(200))
        posts = [Post.of(json.dumps(event).encode(), bench.key) for event in run]
        ours += [timed(partial(lines[0].send, post)) for post in posts]
        bench.yardstick.empty()
        rows = bench.yardstick.rows([run[0]["runId"]])
        bare += [timed(partial(bench.yardstick.copy, connection, row)) for row in rows]
    mine, floor = statistics.median(ours), statistics.median(bare)
    print(
        f"\nOne event a request, p50: {mine * 1000:.2f} ms; a bare durable insert: "
        f"{floor * 1000:.2f} ms; ratio {mine / floor:.2f}"
    )
    assert len(ours) == len(bare)


def timed(job: Callable[[], None]) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


@pytest.mark.parametrize("verdict_every", [0, 100])
def test_ten_thousand_events_into_one_run(bench: Bench, verdict_every: int):
    run = list(run_of(10_000, verdict_every=verdict_every))
    posts = [Post.of(body, bench.key) for body in batches(iter(run), SIZE)]
    with lines_to(bench.port, CONNECTIONS) as lines:
        jobs = [
            [partial(line.send, post) for post in posts[number::CONNECTIONS]]
            for number, line in enumerate(lines)
        ]
        began = time.perf_counter()
        all_sent(jobs)
    url = f"{bench.console.card['url']}/api/v1/runs/{run[0]['runId']}"
    shown = httpx.get(url, headers={"Authorization": f"Bearer {bench.key}"}).json()
    took = time.perf_counter() - began
    mix = f"a verdict in {verdict_every}" if verdict_every else "no verdicts"
    print(f"\n10,000 events into one run, {mix}: visible after {took:.2f} s")
    assert (shown["events"], shown["missing"]) == (10_000, [])
