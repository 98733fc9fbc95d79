"""The API's own page, under the same policy as every other."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.system]


def test_the_api_shows_what_it_takes_without_a_complaint_of_the_browser(visitor):
    page = visitor.open("/api/docs")

    expect(page.locator("#swagger-ui")).to_contain_text("/api/v1/events")
    expect(page.get_by_role("button", name="Authorize")).to_be_visible()
