"""PostgreSQL never runs as root, and nothing above `DATA_DIR` is changed for that."""

import os

import pytest

from openwop_console.supervisor.identity import Identity, NoIdentity, identity_for


@pytest.fixture
def as_root(monkeypatch):
    """Root's view of things. Only the question who we are is answered for us."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_an_ordinary_user_stays_who_he_is(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert identity_for(tmp_path / "postgres", "/bin/false") == Identity()


def test_root_takes_a_namespace_where_there_is_one(tmp_path, monkeypatch, as_root):
    self_made = tmp_path / "unshare"
    self_made.write_text("#!/bin/sh\nexit 0\n")
    self_made.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    identity = identity_for(tmp_path / "postgres", "/bin/true")

    assert identity.prefix[0] == str(self_made)
    assert identity.uid is None


def test_root_without_namespaces_and_without_a_way_is_told_what_to_do(
    tmp_path, monkeypatch, as_root
):
    monkeypatch.setenv("PATH", "")
    above = tmp_path.parent.stat().st_mode

    with pytest.raises(NoIdentity, match="Start as an ordinary user"):
        identity_for(tmp_path / "postgres", str(tmp_path / "no-such-program"))

    assert tmp_path.parent.stat().st_mode == above
