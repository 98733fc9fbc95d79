"""Starts Consoles for the tests of this folder, and ends every one of them."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.system.running import PROJECT, Running

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A path of our own: pytest's are closed to other users."""
    path = Path(tempfile.mkdtemp(prefix="owc-"))
    path.chmod(0o711)
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
def ordinary_user(folder: Path, tmp_path: Path) -> list[str]:
    """How to run our Python as somebody who is not root: the words to put first.

    `nobody`; where the interpreter lies in root's home, `nobody` in a view of the files in which
    that home is open and holds nothing else; where that is forbidden, nobody in a user namespace.
    """
    if os.geteuid() != 0:
        return [sys.executable]
    os.chown(folder.parent, NOBODY, NOBODY)
    nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", sys.executable]
    interpreter = Path(sys.base_prefix)
    closed = [path for path in interpreter.parents if not path.stat().st_mode & 0o001]
    candidates = [nobody]
    if closed:
        view = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", OPENED, "sh"]
        candidates.append([*view, str(interpreter), str(tmp_path), str(closed[-1]), *nobody])
    for words in candidates:
        if _runs_the_project(words):
            return words
    os.chown(folder.parent, 0, 0)
    return ["unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", sys.executable]


OPENED = """
mount --bind "$1" "$2"
mount -t tmpfs -o mode=0755 none "$3"
mkdir -p "$1"
mount --bind "$2" "$1"
shift 3
exec "$@"
"""


def _runs_the_project(words: list[str]) -> bool:
    # Started twice: the first is started by root, what it starts is not.
    imports = "import celery, channels_redis.pubsub, psycopg, uvicorn, openwop_console.cli"
    again = (
        f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {imports!r}]))"
    )
    done = subprocess.run([*words, "-c", again], cwd=PROJECT, capture_output=True, check=False)
    return done.returncode == 0
