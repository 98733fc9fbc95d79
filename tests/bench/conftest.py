"""Benches run against the same Console and browser as the browser tests."""

from tests.browser.conftest import browser, console, remote, visitor

__all__ = ["browser", "console", "remote", "visitor"]
