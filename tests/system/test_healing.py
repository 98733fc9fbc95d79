"""`kill -9` of any part, of the supervisor, and of everything at once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from openwop_console.supervisor.children import Child
from openwop_console.supervisor.folder import Folder
from openwop_console.supervisor.postgres import Cluster
from tests.system.running import Watched, children_of, eventually

pytestmark = pytest.mark.system


@pytest.mark.parametrize("name", ["web", "postgres", "redis", "worker", "slow-worker", "beat"])
def test_a_killed_child_comes_back_and_everything_works_again(shared, name):
    seen, killed = len(shared.lines), shared.child(name)

    os.kill(killed, signal.SIGKILL)
    shared.until(f"{name} restarted", seen)

    assert shared.child(name) != killed
    eventually(lambda: shared.call("doctor").returncode == 0)
    assert shared.status_of("/login") == 200


def test_requests_wait_while_the_web_process_restarts(shared):
    os.kill(shared.child("web"), signal.SIGKILL)

    assert shared.status_of("/readyz") == 200


def test_a_child_that_keeps_dying_is_restarted_ever_later(shared):
    seen = len(shared.lines)

    for _ in range(3):
        os.kill(shared.child("beat"), signal.SIGKILL)
        seen = shared.until("beat restarted", seen)

    pauses = [
        float(line.split("again in ")[1].split()[0])
        for line in shared.lines
        if "beat ended" in line
    ]
    assert pauses[-3:] == sorted(pauses[-3:])
    assert pauses[-1] > pauses[-3]


def test_a_killed_supervisor_takes_everything_with_it_and_the_next_start_has_every_row(
    serve, folder
):
    """Also when a server outlived it after all, as on systems without a parent's death signal."""
    console = serve()
    added = json.loads(console.call("hosts", "add", "Kept", "--workspace", "w", "--json").stdout)
    family = console.family

    console.process.kill()

    assert family.all_end()
    orphan = orphaned_server(folder)
    again = serve()
    assert orphan.ended() == 0
    assert "of a killed Console" in again.output
    listed = json.loads(again.call("hosts", "list", "--json").stdout)
    assert added["id"] in {host["id"] for host in listed}


def test_a_kill_of_everything_at_once_loses_no_committed_row(serve, folder):
    """Also when the process number in the stale `postmaster.pid` is a stranger's by now."""
    console = serve()
    url = console.card["databaseUrl"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")

    console.kill_everything()
    second = serve()

    assert second.card["databaseUrl"] == url
    assert kept_rows(url) == (1000, 1000)
    second.kill_everything()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        stale = folder / "postgres" / "postmaster.pid"
        _, *rest = stale.read_text().splitlines()
        stale.write_text("\n".join([str(stranger.pid), *rest]) + "\n")

        serve()

        assert stranger.poll() is None
        stranger.communicate(b"\n")
    assert kept_rows(url) == (1000, 1000)


def test_ctrl_c_during_the_start_leaves_nothing_running(serve):
    console = serve(ready=False)
    console.until("redis")
    family = Watched(children_of(console.process.pid))

    assert console.interrupt() == 0

    assert family.all_end()


def kept_rows(url: str) -> tuple[int, int] | None:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT count(*), max(n) FROM kept").fetchone()


def orphaned_server(folder: Path) -> Child:
    """Start PostgreSQL on a folder's cluster behind the back of any Console."""
    kept = Folder(folder).secrets()
    password, port = str(kept["postgresPassword"]), int(str(kept["postgresPort"]))
    cluster = Cluster(folder / "postgres", port, password, folder / "log")
    orphan = Child(cluster.program())
    eventually(lambda: cluster.is_ready(orphan.pid))
    return orphan
