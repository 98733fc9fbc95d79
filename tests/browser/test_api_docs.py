"""The API's own page, under the same policy as every other."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.people import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.system]


def test_the_api_shows_what_it_takes_without_a_complaint_of_the_browser(visitor):
    page = visitor.open("/api/docs")

    expect(page.locator("#swagger-ui")).to_contain_text("/api/v1/events")
    expect(page.get_by_role("button", name="Authorize")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_word_of_an_open_operation_can_be_read_in_both_themes(browser, console, theme):
    with Visitor(browser, console.card, theme=theme) as reader:
        page = reader.open("/api/docs")
        page.locator(".opblock-post").first.click()
        expect(page.locator(".opblock-body")).to_contain_text("Responses")

        found = Axe().run(page, context="#swagger-ui", options={"runOnly": ["color-contrast"]})
        assert [each["nodes"] for each in found.response["violations"]] == []
