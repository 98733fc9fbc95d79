"""Only a cluster's own server processes are ever stopped."""

import subprocess
import sys

import pytest

from openwop_console.supervisor.leftovers import named_postmaster, running, stop_leftovers


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "postgres").mkdir()
    return tmp_path / "postgres"


@pytest.fixture
def stranger(cluster):
    """A process that works in the cluster's folder and is no `postgres`."""
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=cluster) as process:
        yield process
        process.kill()


def test_a_stranger_named_in_a_stale_file_lives_on_and_the_file_goes(cluster, stranger):
    (cluster / "postmaster.pid").write_text(f"{stranger.pid}\n")

    assert stop_leftovers(cluster) == []

    assert stranger.poll() is None
    assert not (cluster / "postmaster.pid").exists()


def test_a_file_that_names_a_dead_process_is_left_for_postgresql_to_check(cluster):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    (cluster / "postmaster.pid").write_text(f"{dead.pid}\n")

    stop_leftovers(cluster)

    assert named_postmaster(cluster) == dead.pid


@pytest.mark.parametrize("content", ["", "no number\n", "\n"])
def test_a_file_that_names_nobody_is_no_error(cluster, content):
    (cluster / "postmaster.pid").write_text(content)

    assert named_postmaster(cluster) is None
    assert stop_leftovers(cluster) == []


def test_a_cluster_that_was_never_made_has_no_processes(tmp_path):
    assert running(tmp_path / "none") == []
    assert stop_leftovers(tmp_path / "none") == []
