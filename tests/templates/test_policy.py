"""Templates keep what the Content-Security-Policy asks: nothing inline, nothing unescaped."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SYMBOLS = set(re.findall(r'<symbol id="([a-z-]+)"', (ROOT / "static" / "icons.svg").read_text()))
FORBIDDEN = {
    "an inline style": r"\sstyle\s*=",
    "a style element": r"<style\b",
    "an inline script": r"<script(?![^>]*\bsrc=)",
    "an inline handler": r"\son[a-z]+\s*=",
    "an evaluated htmx attribute": r"hx-on|hx-vals=.js:|hx-trigger=\"[^\"]*\[",
    "unescaped text": r"\|\s*safe\b|autoescape off",
    "a foreign address": r"(?:src|href)=\"(?:https?:)?//",
}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
@pytest.mark.parametrize("what", FORBIDDEN)
def test_a_template_holds_no(what, template):
    assert re.findall(FORBIDDEN[what], template.read_text()) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_icon_that_a_template_names_is_in_the_sprite(template):
    text = template.read_text()
    named = re.findall(r'{% icon "([a-z-]+)"', text) + re.findall(r'icon="([a-z-]+)"', text)

    assert set(named) - SYMBOLS == set()


def test_what_the_socket_swaps_in_holds_no_form_that_needs_a_token():
    swapped = re.compile(r"{% partialdef (\w+) %}(.*?){% endpartialdef %}", re.DOTALL)
    for template in TEMPLATES:
        text = template.read_text()
        for name, body in swapped.findall(text):
            if "hx-swap-oob" in body and name != "decision":
                assert "csrf_token" not in body, f"{template.name}#{name}"


def test_css_needs_no_important_and_no_import():
    sheets = "".join(path.read_text() for path in (ROOT / "static" / "css").glob("*.css"))

    assert "!important" not in sheets
    assert "@import" not in sheets
