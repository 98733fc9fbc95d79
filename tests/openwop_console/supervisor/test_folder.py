"""One folder, one holder, and secrets that are made once."""

import base64
import json
import os
import stat
import subprocess
import sys

import pytest

from openwop_console.supervisor import folder as folders
from openwop_console.supervisor.folder import (
    AlreadyRunning,
    Folder,
    FolderUnusable,
    read_json,
    write_json,
)


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path / "var")
    folder.make()
    return folder


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_is_closed_to_others_even_when_it_was_open(tmp_path):
    (tmp_path / "var").mkdir(mode=0o755)

    Folder(tmp_path / "var").make()

    assert mode(tmp_path / "var") == 0o700
    assert mode(tmp_path / "var" / "logs") == 0o700


def test_a_folder_that_is_a_file_is_refused_by_name(tmp_path):
    (tmp_path / "var").write_text("")

    with pytest.raises(FolderUnusable, match=r"DATA_DIR .*/var cannot be used"):
        Folder(tmp_path / "var").make()


def test_the_lock_has_one_holder_who_is_named(folder):
    assert folder.holder() is None

    with folder.locked():
        folder.announce("http://127.0.0.1:1")
        found = folder.holder()
        with (
            pytest.raises(AlreadyRunning, match=r"http://127\.0\.0\.1:1") as refusal,
            folder.locked(),
        ):
            pass

    assert found is not None
    assert (found.pid, found.url) == (os.getpid(), "http://127.0.0.1:1")
    assert refusal.value.pid == os.getpid()
    assert folder.holder() is None


def test_a_killed_holder_holds_nothing(folder):
    code = (
        "import signal, sys; from pathlib import Path;"
        "from openwop_console.supervisor.folder import Folder\n"
        "with Folder(Path(sys.argv[1])).locked(): print('held', flush=True); signal.pause()"
    )
    command = [sys.executable, "-c", code, str(folder.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        held = folder.holder()

        holder.kill()

    assert held is not None
    assert folder.holder() is None
    with folder.locked():
        assert folder.holder() is not None


def test_secrets_are_made_once_and_are_nobody_elses_business(folder, tmp_path):
    first = folder.secrets()

    assert folder.secrets() == first
    assert mode(folder.secrets_file) == 0o600
    assert len(base64.urlsafe_b64decode(str(first["encryptionKey"]))) == 32
    other = Folder(tmp_path / "other")
    other.make()
    assert set(other.secrets().values()).isdisjoint(first.values())


def test_what_is_remembered_leaves_the_secrets_alone(folder):
    before = folder.secrets()

    folder.remember(postgresPort=5)

    assert folder.secrets() == before | {"postgresPort": 5}


def test_a_file_is_replaced_whole_and_no_draft_stays(tmp_path):
    path = tmp_path / "card.json"
    write_json(path, {"n": 1})
    path.chmod(0o644)

    write_json(path, {"n": 2})

    assert json.loads(path.read_text()) == {"n": 2}
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_file_that_holds_no_object_is_an_error_and_none_is_not(tmp_path, content):
    (tmp_path / "bad.json").write_text(content)

    with pytest.raises(FolderUnusable, match=r"bad\.json"):
        read_json(tmp_path / "bad.json")

    assert read_json(tmp_path / "none.json") == {}


def test_a_log_that_outgrew_its_limit_starts_anew_and_is_kept_once(folder, monkeypatch):
    monkeypatch.setattr(folders, "LOG_LIMIT_BYTES", 3)
    folder.log("web").write_text("long")

    fresh = folder.log("web")

    assert not fresh.exists()
    assert (folder.path / "logs" / "web.log.1").read_text() == "long"
