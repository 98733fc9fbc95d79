"""Styles and scripts, as a process serves them that outlives an upgrade in place."""

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path, settings):
    """A folder of static files that may change."""
    settings.STATICFILES_DIRS = [tmp_path]
    finders.get_finder.cache_clear()
    yield tmp_path
    finders.get_finder.cache_clear()


def test_a_style_that_changes_under_a_running_process_is_served_whole(folder):
    style, client = folder / "late.css", Client()
    for text in ("a { }", "a { color: red }", "a { color: black }"):
        style.write_text(text)
        answer = client.get("/static/late.css")

        assert answer.getvalue().decode() == text  # which closes the file
        assert answer.headers["Content-Length"] == str(len(text))


@pytest.mark.parametrize("path", ["/static/", "/static/none.css", "/static/../manage.py"])
def test_what_is_no_static_file_is_not_found(folder, path):
    assert Client().get(path).status_code == 404


def test_no_page_wears_an_old_style_for_long(folder):
    (folder / "late.css").write_text("a { }")

    answer = Client().get("/static/late.css")

    assert answer.getvalue() == b"a { }"
    assert answer.headers["Cache-Control"] == "max-age=60, public"
