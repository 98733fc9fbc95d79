"""People of a workspace: added, given roles, taken out, and in charge of their own password."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from runs.actions.people import grant
from runs.models import Membership, Role
from tests.factories import person
from verification.models import AuditEntry
from verification.queries.audit import verify

pytestmark = pytest.mark.django_db
CHOSEN = "a-quiet-river-bends-7"
SHOWN = re.compile(r'password of \w+, shown this once:</strong> <code class="id">(.+?)<')


@pytest.fixture
def abe(host):
    user = person("abe")
    grant(user=user, workspace=host.workspace, role=Role.ADMIN)
    return user


@pytest.fixture
def as_abe(abe):
    return signed_in(abe)


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


def member(name: str) -> Membership:
    return Membership.objects.get(user__username=name)


def do(client, name: str, what: str, **more):
    return client.post(f"/settings/people/{member(name).pk}", {"do": what, **more}, follow=True)


def signs_in(name: str, password: str) -> bool:
    answer = Client().post("/login", {"username": name, "password": password})
    return answer.status_code == 302


def test_somebody_added_signs_in_with_the_password_that_is_shown_once(as_abe, host):
    added = {"username": "cara", "email": "cara@example.com", "role": "reviewer"}
    page = text_of(as_abe.post("/settings/people", added, follow=True))
    [shown] = re.findall(
        r'password of cara, shown this once:</strong> <code class="id">(.+?)<', page
    )

    assert signs_in("cara", shown)
    assert shown not in text_of(as_abe.get("/settings/people"))
    assert (member("cara").role, User.objects.get(username="cara").email) == (
        "reviewer",
        "cara@example.com",
    )
    entry = AuditEntry.objects.get(action="person.added")
    assert shown not in str(entry.detail)
    assert verify(host.workspace)["chainValid"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"username": "abe", "role": "viewer"}, "The name abe is taken."),
        ({"username": "a b", "role": "viewer"}, "Enter a valid username."),
        ({"username": "", "role": "viewer"}, "required"),
        ({"username": "cara", "role": "king"}, "king is not one of the available choices"),
        ({"username": "cara", "role": "viewer", "email": "nobody"}, "valid email"),
    ],
)
def test_a_form_that_cannot_be_kept_says_why(as_abe, given, said):
    answer = as_abe.post("/settings/people", given)

    assert answer.status_code == 422
    assert said in text_of(answer)
    assert User.objects.filter(username="cara").count() == 0


def test_a_role_is_changed_and_put_on_record(as_abe, ada):
    assert "ada is viewer now." in text_of(do(as_abe, "ada", "role", role="viewer"))

    assert member("ada").role == "viewer"
    assert AuditEntry.objects.get(action="person.role_changed").detail == {
        "was": "reviewer",
        "role": "viewer",
    }


@pytest.mark.parametrize(("what", "more"), [("role", {"role": "viewer"}), ("remove", {})])
def test_the_last_administrator_stays(as_abe, abe, what, more):
    assert "make somebody else admin first" in text_of(do(as_abe, "abe", what, **more))

    assert member("abe").role == "admin"


def test_whoever_is_taken_out_sees_nothing_of_it_any_more(as_abe, ada, host):
    assert "Take ada out of" in text_of(
        as_abe.get(f"/settings/people?do=remove&sure={member('ada').pk}")
    )

    do(as_abe, "ada", "remove")

    assert not Membership.objects.filter(user=ada).exists()
    assert host.slug not in text_of(signed_in(ada).get("/runs"))


def test_a_new_password_ends_the_old_one_and_every_session(as_abe, ada):
    there = signed_in(ada)
    page = text_of(do(as_abe, "ada", "password"))
    [shown] = re.findall(
        r'password of ada, shown this once:</strong> <code class="id">(.+?)<', page
    )

    assert signs_in("ada", shown)
    assert there.get("/runs").status_code == 302


def test_nobody_comes_into_another_workspace_by_a_new_password(as_abe, ada, other_host):
    ada.set_password(CHOSEN)
    ada.save()
    grant(user=ada, workspace=other_host.workspace, role=Role.VIEWER)
    here = Membership.objects.get(user=ada, workspace__slug=member("abe").workspace.slug)

    told = as_abe.post(f"/settings/people/{here.pk}", {"do": "password"}, follow=True)

    assert "is in other workspaces too" in text_of(told)
    assert signs_in("ada", CHOSEN)


def test_people_of_another_workspace_are_nobodys_to_change(as_abe, other_host):
    omar = person("omar")
    grant(user=omar, workspace=other_host.workspace, role=Role.VIEWER)

    answer = as_abe.post(f"/settings/people/{member('omar').pk}", {"do": "remove"})

    assert answer.status_code == 404
    assert "omar" not in text_of(as_abe.get("/settings/people"))
    assert member("omar").role == "viewer"


def test_a_reviewer_changes_nobody(ada, abe):
    client = signed_in(ada)

    assert client.get("/settings/people").status_code == 403
    assert do(client, "abe", "remove").status_code == 403
    assert member("abe").role == "admin"


class TestOnesOwnPassword:
    @pytest.fixture
    def old(self, ada):
        ada.set_password("an-old-and-long-one-3")
        ada.save()
        return "an-old-and-long-one-3"

    def change(self, client, old, new, again=None):
        given = {"old_password": old, "new_password1": new, "new_password2": again or new}
        return client.post("/settings/profile/password", given, follow=True)

    def test_it_is_changed_and_this_session_goes_on_alone(self, ada, old):
        here, there = signed_in(ada), signed_in(ada)

        told = self.change(here, old, CHOSEN)

        assert "Your password is changed." in text_of(told)
        assert here.get("/runs").status_code == 200
        assert there.get("/runs").status_code == 302
        assert signs_in("ada", CHOSEN)
        assert not signs_in("ada", old)
        assert AuditEntry.objects.filter(action="person.password_changed").exists()

    @pytest.mark.parametrize(
        ("given", "new", "again"),
        [
            ("not the old one", CHOSEN, CHOSEN),
            ("an-old-and-long-one-3", CHOSEN, "another-long-one-9"),
            ("an-old-and-long-one-3", "short", "short"),
        ],
    )
    def test_it_stays_where_the_form_is_not_right(self, ada, old, given, new, again):
        answer = self.change(signed_in(ada), given, new, again)

        assert answer.status_code == 422
        assert "Your password stays as it was." in text_of(answer)
        assert signs_in("ada", old)
