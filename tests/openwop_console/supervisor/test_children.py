"""Children: restarted with growing pauses, stopped with their whole group."""

import os
import select
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openwop_console.supervisor.children import (
    LONGEST_PAUSE_S,
    SETTLED_AFTER_S,
    Child,
    ChildFailed,
    Program,
    StartTimedOut,
    pause_s,
    stop,
    tail,
    wait_until_ready,
)

TRAP = "import signal; signal.signal"


@pytest.fixture
def program(tmp_path):
    """Build a program out of a line of Python; the test ends every one it starts."""

    def build(code: str, **options) -> Program:
        argv = (sys.executable, "-u", "-c", code)
        return Program(name="it", argv=argv, log=tmp_path / "log", env=os.environ, **options)

    return build


def said(program: Program, words: str) -> bool:
    return program.log.exists() and words in program.log.read_text()


def until_said(child: Child, words: str) -> None:
    wait_until_ready(child, lambda: said(child.program, words), time.sleep, 20)


def wait_until_gone(child: Child) -> None:
    while child.ended() is None:
        os.sched_yield()


@given(st.integers(0, 60))
def test_pauses_grow_and_have_a_ceiling(failures):
    assert pause_s(failures) <= pause_s(failures + 1) <= LONGEST_PAUSE_S


def test_a_child_that_ended_is_restarted_once_its_pause_is_over(program):
    child = Child(program("import signal; signal.pause()"))
    first = child.pid
    child.kill()

    assert "again in 0.2 s" in child.heal(now=0.0)
    assert child.heal(now=0.1) == ""
    assert child.heal(now=0.2).startswith("it restarted")
    assert child.pid != first
    child.kill()


def test_each_early_end_doubles_the_pause_and_a_long_life_forgives(program):
    child = Child(program("pass"))
    now = time.monotonic()
    pauses = []
    for _ in range(3):
        wait_until_gone(child)
        child.heal(now)
        assert child.due is not None
        pauses.append(round(child.due - now, 1))
        now = child.due
        child.heal(now)

    wait_until_gone(child)
    now += SETTLED_AFTER_S + 1
    child.heal(now)

    assert pauses == [0.2, 0.4, 0.8]
    assert child.due is not None
    assert round(child.due - now, 1) == 0.2


def test_what_a_dead_child_left_in_its_group_is_killed(program):
    code = "import subprocess; print('pid', subprocess.Popen(['sleep', '600']).pid)"
    child = Child(program(code))
    until_said(child, "pid ")
    pidfd = os.pidfd_open(int(child.program.log.read_text().split()[1]))

    wait_until_gone(child)

    readable, _, _ = select.select([pidfd], [], [], 10)
    os.close(pidfd)
    assert readable, "the grandchild still runs"


def test_a_child_that_ignores_the_polite_signal_is_killed_when_its_grace_is_over(program):
    code = f"{TRAP}(signal.SIGTERM, signal.SIG_IGN); print('up'); signal.pause()"
    child = Child(program(code, grace_s=0.2))
    until_said(child, "up")

    stop([child], time.sleep)

    assert child.process.returncode == -signal.SIGKILL


def test_a_child_gets_its_own_stop_signal(program):
    code = f"{TRAP}(signal.SIGINT, lambda *_: exit(7)); print('up'); signal.pause()"
    child = Child(program(code, stop_signal=signal.SIGINT))
    until_said(child, "up")

    stop([child], time.sleep)

    assert child.process.returncode == 7


def test_a_child_reads_what_it_is_given_and_then_the_end_of_it(program):
    child = Child(program("import sys; print('read', sys.stdin.read())", stdin=b"secret"))

    until_said(child, "read secret")
    child.process.wait()


def test_a_child_that_ends_before_it_is_ready_is_named_with_the_end_of_its_log(program):
    child = Child(program("raise SystemExit('no such thing')"))

    with pytest.raises(ChildFailed, match="it ended with status 1") as failure:
        wait_until_ready(child, lambda: False, time.sleep)

    assert "no such thing" in str(failure.value)


def test_a_child_that_is_never_ready_is_given_up(program):
    child = Child(program("import signal; signal.pause()"))

    with pytest.raises(StartTimedOut, match=r"it was not ready in 0 s"):
        wait_until_ready(child, lambda: False, time.sleep, seconds=0.1)

    child.kill()


def test_the_end_of_a_log_is_short_and_a_missing_log_is_no_error(tmp_path: Path):
    log = tmp_path / "long.log"
    log.write_text("\n".join(f"line {n}" for n in range(10_000)))

    assert tail(log, lines=2) == "  line 9998\n  line 9999"
    assert tail(tmp_path / "none") == "  (no log)"
