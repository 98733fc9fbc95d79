"""The player: five stories into a Console, a word for the reviewer, and nothing left behind."""

import json
import threading
from types import SimpleNamespace

import httpx
import pytest

from openwop_console.demo.play import AlreadyPlaying, main
from openwop_console.demo.scripts import STORIES


class Terminal:
    """Hears what the player says, and plays the reviewer when one is needed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.stop = threading.Event()
        self.host: dict = {}

    def connect(self, **host) -> None:
        """Stands where the Console keeps its hosts."""
        self.host = host

    def say(self, line: str) -> None:
        self.lines.append(line)
        if "a reviewer is needed" in line:
            self.review()

    def review(self) -> None:
        """Answer every open interrupt at the registered address, as the Console would."""
        headers = {"authorization": f"Bearer {self.host['api_key']}"}
        with httpx.Client(base_url=self.host["base_url"], headers=headers) as http:
            for run in http.get("/v1/runs").json()["runs"]:
                if "interrupt" in run:
                    node = run["interrupt"]["nodeId"]
                    answers = {"arrival": "noon", "luggage": "none"}
                    value = {"action": "accept"} if node == "human-review" else {"answers": answers}
                    path = f"/v1/runs/{run['runId']}/interrupts/{node}"
                    assert http.post(path, json={"resumeValue": value}).status_code == 200


def play(console_url, folder, terminal, **more):
    main(
        console_url,
        folder,
        **{"pace_s": 0.0, "say": terminal.say, "connect": terminal.connect, **more},
        stop=terminal.stop,
    )


@pytest.fixture(scope="module")
def seen(tmp_path_factory, console_for_module):
    """Two rounds, played once for all tests that look at what became of them."""
    folder = tmp_path_factory.mktemp("data")
    terminal = Terminal()
    card = {"url": "x", "host": {"id": "demo", "key": "owc_from_card"}}
    (folder / "console.json").write_text(json.dumps(card))
    play(console_for_module.url, folder, terminal, rounds=2)
    return SimpleNamespace(
        lines=terminal.lines,
        host=terminal.host,
        folder=folder,
        ingest=console_for_module.ingest,
        url=console_for_module.url,
    )


def test_each_round_starts_every_story(seen):
    started = [line.split()[-1] for line in seen.lines if "started" in line]

    assert started == [*STORIES, *STORIES]
    assert "Round 2." in seen.lines


def test_it_says_where_to_look_and_when_a_reviewer_is_needed(seen):
    assert seen.lines[0] == f"Watch the runs arrive: open {seen.url}/runs"
    assert f"  refund-policy: a reviewer is needed: {seen.url}/queue" in seen.lines
    assert f"  travel-desk: a reviewer is needed: {seen.url}/queue" in seen.lines
    assert seen.lines[-1] == "All runs have ended."


def test_every_event_arrives_under_the_key_of_the_card(seen):
    started = [one for one in seen.ingest.committed if one["type"] == "run.started"]
    ended = [one for one in seen.ingest.committed if one["type"] in ("run.completed", "run.failed")]

    assert len(started) == len(ended) > 2 * len(STORIES)
    assert seen.ingest.keys == {"Bearer owc_from_card"}


def test_the_console_is_told_where_the_host_is_and_what_it_can(seen):
    assert seen.host["host_id"] == "demo"
    assert seen.host["base_url"].startswith("http://127.0.0.1:")
    assert len(seen.host["api_key"]) >= 40
    assert seen.host["api_key"] not in "\n".join(seen.lines)
    assert seen.host["capabilities"]["multiAgent"]["executionModel"]["version"] == 6


def test_nothing_is_left_behind(seen):
    assert [path.name for path in seen.folder.iterdir()] == ["console.json"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(seen.host["base_url"])


def test_ctrl_c_ends_the_play_in_order(console_of, tmp_path):
    terminal = Terminal()

    def interrupt(line: str) -> None:
        terminal.lines.append(line)
        if "started" in line:
            raise KeyboardInterrupt

    play(console_of().url, tmp_path, terminal, host_id="demo", host_key="k", say=interrupt)

    assert terminal.lines[-1].strip() == "Stopping."
    with pytest.raises(httpx.ConnectError):
        httpx.get(terminal.host["base_url"])


def test_two_players_on_one_folder_are_refused_and_a_stopped_one_starts_nothing(
    console_of, tmp_path
):
    console, terminal, second = console_of(), Terminal(), Terminal()

    def play_again(line: str) -> None:
        terminal.lines.append(line)
        with pytest.raises(AlreadyPlaying, match="playing already"):
            play(console.url, tmp_path, second, host_id="demo", host_key="k")
        terminal.stop.set()

    play(console.url, tmp_path, terminal, host_id="demo", host_key="k", say=play_again, rounds=0)

    assert second.host == {}
    assert not [line for line in terminal.lines if "started" in line]
