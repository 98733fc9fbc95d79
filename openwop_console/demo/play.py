"""The player behind `make demo`: runs the demo host, starts its stories, says where to look.

It registers the host with the Console through the same action as an administrator would, and holds
no state of its own. One player at a time per data folder: two would claim the same host.
"""

import fcntl
import itertools
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import click
import httpx

from openwop_console.demo import consensus
from openwop_console.demo.child import ChildHost, child_host
from openwop_console.demo.scripts import STORIES

_BEATS_APART = 14
"""Beats between the start of two stories: enough to see each of them begin."""

Say = Callable[[str], None]


class Connect(Protocol):
    """Tells the Console where the host answers."""

    def __call__(
        self, *, host_id: str, base_url: str, api_key: str, capabilities: Mapping[str, Any]
    ) -> None:
        """Register address, key and capabilities of a host."""
        ...  # pragma: no cover


class AlreadyPlaying(Exception):
    """Another player works for this Console."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self.data_dir = data_dir

    def __str__(self) -> str:
        return f"A demo is playing already on {self.data_dir}. Stop it first."


def main(
    url: str,
    data_dir: Path,
    *,
    host_id: str | None = None,
    host_key: str | None = None,
    pace_s: float = 1.5,
    rounds: int = 1,
    connect: Connect | None = None,
    say: Say = click.echo,
    stop: threading.Event | None = None,
) -> None:
    """Play the stories into a Console until all have ended, or until Ctrl-C.

    Args:
        url: the Console.
        data_dir: its data folder; `console.json` there names a host and key where none are given.
        host_id: the host to play.
        host_key: its key for sending events.
        pace_s: seconds between two events of a story.
        rounds: how often to play all stories; 0 goes on for ever.
        connect: how the Console is told about the host; its own action by default.
        say: where lines for the person at the terminal go.
        stop: set to end the play early.

    Raises:
        AlreadyPlaying: another player works for this Console.
        HostNotReady: the demo host could not be started.
        HostEnded: the demo host died.
    """
    host_id, host_key = _host_of(data_dir, host_id, host_key)
    api_key = secrets.token_urlsafe(32)
    with (
        _alone(data_dir),
        child_host(console_url=url, host_key=host_key, api_key=api_key, pace_s=pace_s) as host,
    ):
        (connect or _connect)(
            host_id=host_id,
            base_url=host.url,
            api_key=api_key,
            capabilities=host.discovery(),
        )
        player = Player(host, url.rstrip("/"), say, stop or threading.Event())
        _show_consensus(url.rstrip("/"), host_key, say)
        try:
            player.play(rounds, pace_s)
        except KeyboardInterrupt:
            say("\nStopping.")


@dataclass(slots=True)
class Player:
    """Starts stories and tells what happens to them."""

    host: ChildHost
    console_url: str
    say: Say
    stop: threading.Event
    look_every_s: float = 1.0
    _told: set[tuple[str, str]] = field(default_factory=set)

    def play(self, rounds: int, pace_s: float) -> None:
        """Play that many rounds, then stay until every run has ended."""
        self.say(f"Watch the runs arrive: open {self.console_url}/runs")
        numbers = itertools.count(1) if rounds == 0 else range(1, rounds + 1)
        for number in numbers:
            if number > 1:
                self.say(f"Round {number}.")
            for workflow_id in STORIES:
                if self.stop.is_set():
                    return
                self.host.start(workflow_id)
                self.say(f"  started {workflow_id}")
                self._watch_for(pace_s * _BEATS_APART)
        self._stay()

    def _stay(self) -> None:
        while not self.stop.is_set():
            if not self._look():
                self.say("All runs have ended.")
                return
            self.stop.wait(self.look_every_s)

    def _watch_for(self, seconds: float) -> None:
        slices = max(1, round(seconds / self.look_every_s))
        for _ in range(slices):
            if self.stop.wait(seconds / slices):
                return
            self._look()

    def _look(self) -> int:
        """Tell what is new; returns how many runs go on."""
        runs = self.host.runs()
        for run in runs:
            if run["workflowId"] in STORIES:
                self._tell(run["runId"], run["workflowId"], run["status"])
        return sum(run["status"] not in ("completed", "failed", "cancelled") for run in runs)

    def _tell(self, run_id: str, workflow_id: str, status: str) -> None:
        if status in ("pending", "running") or (run_id, status) in self._told:
            return
        self._told.add((run_id, status))
        if status.startswith("waiting-"):
            self.say(f"  {workflow_id}: a reviewer is needed: {self.console_url}/queue")
        else:
            self.say(f"  {workflow_id}: {status}")


def _show_consensus(console_url: str, host_key: str, say: Say) -> None:
    """Have rules judge two answers; a Console that does not answer costs the demo nothing else."""
    try:
        pages = consensus.ask(console_url, host_key)
    except httpx.HTTPError as error:
        say(f"No consensus job was started ({type(error).__name__}).")
        return
    for page in pages:
        say(f"Judges are heard: {page}")


def _host_of(data_dir: Path, host_id: str | None, host_key: str | None) -> tuple[str, str]:
    if host_id is not None and host_key is not None:
        return host_id, host_key
    host = json.loads((data_dir / "console.json").read_text())["host"]
    return str(host["id"]), str(host["key"])


@contextmanager
def _alone(data_dir: Path) -> Iterator[None]:
    """Hold a lock on the folder itself, which leaves no file behind. Raises AlreadyPlaying."""
    folder = os.open(data_dir, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyPlaying(data_dir) from error
        yield
    finally:
        os.close(folder)


def _connect(*, host_id: str, base_url: str, api_key: str, capabilities: Mapping[str, Any]) -> None:
    """The Console's own action; Django wakes up only here."""
    import django
    from django.apps import apps

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")
    if not apps.ready:
        django.setup()
    from runs.actions.hosts import connect_host

    connect_host(host_id=host_id, base_url=base_url, api_key=api_key, capabilities=capabilities)
