"""The command line on its own: what it offers, and what it says when nothing runs."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from openwop_console.cli import COMMANDS, demo, main
from openwop_console.demo import play


@pytest.fixture
def run(tmp_path, monkeypatch):
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "var"))
    return lambda *words: CliRunner().invoke(main, words)


def test_help_lists_every_command_and_imports_none():
    code = (
        "import sys; from openwop_console.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "sys.exit(any(name.startswith('openwop_console.cli.') for name in sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert all(name in shown.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(run, name):
    shown = run(name, "--help")

    assert shown.exit_code == 0
    assert "Usage:" in shown.output


@pytest.mark.parametrize(
    "words",
    [
        ["migrate"],
        ["demo"],
        ["hosts", "list"],
        ["hosts", "add", "a", "--workspace", "w"],
        ["hosts", "rotate", "a"],
        ["runs", "list"],
        ["runs", "get", "r-1"],
        ["keys", "list"],
        ["keys", "revoke", "k"],
        ["worker"],
        ["ingest", "-"],
    ],
)
def test_a_command_says_what_to_do_when_nothing_runs(run, words):
    shown = run(*words)

    assert shown.exit_code == 1
    assert "make run" in shown.output


def test_doctor_finds_that_nothing_runs(run):
    shown = run("doctor", "--json")

    assert shown.exit_code == 1
    assert {"python": True, "console": False}.items() <= {
        finding["part"]: finding["well"] for finding in json.loads(shown.output)
    }.items()


def test_a_bind_address_must_be_an_address(run):
    shown = run("serve", "--bind", "example.com")

    assert shown.exit_code == 2
    assert "IP address" in shown.output


def test_a_second_demo_says_that_one_plays_already(run, tmp_path, monkeypatch):
    def refuse(url, folder):
        raise play.AlreadyPlaying(folder)

    monkeypatch.setattr(demo, "card", lambda folder: {"url": "http://127.0.0.1:9"})
    monkeypatch.setattr(demo, "point_at", lambda folder: None)
    monkeypatch.setattr(play, "main", refuse)

    refused = run("demo")

    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: A demo is playing already on ")
