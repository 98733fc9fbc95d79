"""Starts Consoles for the tests of this folder, and ends every one of them."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.system.running import PROJECT, Running

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path of our own: pytest's would be long, and closed to other users."""
    path = Path(tempfile.mkdtemp(prefix="owc-"))
    yield path / "var"
    shutil.rmtree(path)


@pytest.fixture
def serve(folder: Path) -> Iterator[Callable[..., Running]]:
    """Start a Console on `folder`, ready unless told otherwise; a test may start several."""
    started: list[Running] = []

    def start(*, ready: bool = True, **options: object) -> Running:
        console = Running(folder, **options)  # type: ignore[arg-type]
        started.append(console)
        if ready:
            console.until("Ready in")
        return console

    yield start
    for console in started:
        console.end()


@pytest.fixture(scope="session")
def shared() -> Iterator[Running]:
    """One Console for every test that leaves it as it was, or waits until it has healed."""
    with tempfile.TemporaryDirectory(prefix="owc-") as path:
        console = Running(Path(path) / "var")
        try:
            console.until("Ready in")
            yield console
        finally:
            console.end()


@pytest.fixture
def ordinary_user(folder: Path) -> tuple[list[str], dict[str, str]]:
    """How to run Python as somebody who is not root: words to put first, and the environment.

    `nobody` with our interpreter; or, where that lies in root's home, with the system's Python of
    the same version; or else in a user namespace, where we are nobody but still reach our files.
    """
    if os.geteuid() != 0:
        return [sys.executable], {}
    os.chown(folder.parent, NOBODY, NOBODY)
    packages = f"{PROJECT}:{sysconfig.get_path('purelib')}"
    nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    system = f"/usr/bin/python3.{sys.version_info.minor}"
    env = {"HOME": str(folder.parent), "PYTHONPATH": packages}
    for words, extra in (
        ([*nobody, sys.executable], {"HOME": env["HOME"]}),
        ([*nobody, system], env),
    ):
        if _imports_the_project(words, extra):
            return words, extra
    os.chown(folder.parent, 0, 0)
    namespace = ["unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}"]
    return [*namespace, sys.executable], {}


def _imports_the_project(words: list[str], extra: dict[str, str]) -> bool:
    # Started twice: the first is started by root, what it starts is not.
    imports = "import celery, channels_redis.pubsub, psycopg, uvicorn, openwop_console.cli"
    again = (
        f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {imports!r}]))"
    )
    done = subprocess.run(
        [*words, "-c", again],
        env={**os.environ, **extra},
        cwd=PROJECT,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0
