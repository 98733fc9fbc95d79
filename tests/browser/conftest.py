"""A Console as a user starts it, a browser, and a host that it can reach."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.people import Visitor
from tests.remote import RunningHost
from tests.system.running import Running

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
expect.set_options(timeout=15_000)  # as patient as a visitor is: machines are shared
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def a_console() -> Iterator[Running]:
    """A Console of its own, which sends decisions at once."""
    folder = Path(tempfile.mkdtemp(prefix="owc-"))
    running = Running(folder / "var", env={"OPENWOP_CONSOLE_UNDO_S": "0"})
    try:
        running.until("Ready in")
        yield running
    finally:
        running.end()
        shutil.rmtree(folder)


@pytest.fixture(scope="package")
def console() -> Iterator[Running]:
    """One for every test that minds no other's runs; a module that does makes its own."""
    with a_console() as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, for this folder only: while it lives, no other event loop can run here."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    assert path, f"none of {', '.join(BROWSERS)} is on PATH; `make test` installs one as root"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def visitor(console: Running, browser: Browser) -> Iterator[Visitor]:
    """The administrator at a desk; what their browser complains about fails the test."""
    with Visitor(browser, console.card) as someone:
        yield someone
    assert someone.complaints == []


@pytest.fixture
def remote(console: Running) -> Iterator[RunningHost]:
    """The demo host, sending to the Console with the key of its first host, and known to it."""
    card = console.card
    running = RunningHost(console_url=card["url"], console_key=card["host"]["key"])
    connected = console.call(
        "hosts", "connect", card["host"]["id"],
        "--base-url", running.url, "--api-key", running.options.api_key,
    )  # fmt: skip
    assert connected.returncode == 0, connected.stderr
    yield running
    running.stop()
