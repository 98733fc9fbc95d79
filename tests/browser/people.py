"""Somebody at a browser."""

import os
from typing import Any, Self

from playwright.sync_api import Browser, BrowserContext, Page

DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


class Visitor:
    """A signed-in person with a browser of their own. Console errors and CSP reports are kept."""

    def __init__(
        self, browser: Browser, card: dict[str, Any], size=DESK, theme="light", account=None,
        has_scripts=True,
    ) -> None:  # fmt: skip
        self.browser, self.card, self.size, self.theme = browser, card, size, theme
        self.account = account or card["admin"]
        self.has_scripts = has_scripts
        self.complaints: list[str] = []

    def __enter__(self) -> Self:
        self.context: BrowserContext = self.browser.new_context(
            viewport=self.size,
            color_scheme=self.theme,
            base_url=self.card["url"],
            java_script_enabled=self.has_scripts,
        )
        self.context.set_default_timeout(15_000)
        self.page = self.open("/")
        self.page.fill("#id_username", self.account["username"])
        self.page.fill("#id_password", self.account["password"])
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url("**/runs")
        return self

    def __exit__(self, *failure: object) -> None:
        self.context.close()

    def open(self, path: str) -> Page:
        """Open a page in a tab of its own."""
        page = self.context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))
        page.goto(path)
        return page

    def picture(self, page: Page, name: str) -> None:
        """Keep a picture for the documents, where SCREENSHOTS names a folder."""
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            page.screenshot(path=f"{folder}/{name}.png")

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.location}: {message.text}")
