"""The style guide: for those who work on the look, and complete."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404
from django.test import RequestFactory

from openwop_console import styleguide
from runs.templatetags.badges import BADGES


def shown_to(user):
    request = RequestFactory().get("/styleguide")
    request.user = user
    return styleguide.view(request)


@pytest.mark.parametrize("user", [AnonymousUser(), User(username="cy")])
def test_others_find_no_such_page(user, settings):
    settings.DEBUG = False

    with pytest.raises(Http404):
        shown_to(user)


@pytest.mark.django_db
def test_staff_see_every_badge_and_every_icon():
    page = shown_to(User.objects.create(username="ada", is_staff=True)).content.decode()

    assert {shown.word for shown in BADGES.values() if shown.word not in page} == set()
    assert page.count('class="lights"') == 2
    assert "Never heard of" in page
