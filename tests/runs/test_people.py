import pytest
from django.contrib.auth import authenticate

from runs.actions.people import NameTaken, add_person, ensure_admin
from runs.models import Membership, Role, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme() -> Workspace:
    return Workspace.objects.create(slug="acme", name="Acme")


def add(name: str = "ada", role: Role = Role.REVIEWER) -> str:
    return add_person(username=name, email="", workspace="acme", role=role)


def test_somebody_added_signs_in_with_the_password_that_was_shown(acme, rf):
    password = add()

    user = authenticate(rf.post("/login"), username="ada", password=password)
    assert Membership.objects.get(user=user).role == "reviewer"


def test_a_name_is_given_once(acme):
    add()
    with pytest.raises(NameTaken):
        add()


def test_nobody_is_added_to_a_workspace_that_is_not_there():
    with pytest.raises(Workspace.DoesNotExist):
        add()


def test_an_administrator_gets_the_password_that_was_asked_for(rf):
    ensure_admin(username="root", password="first-of-all-passwords")
    ensure_admin(username="root", password="second-of-all-passwords")

    def sign_in(password):
        return authenticate(rf.post("/login"), username="root", password=password)

    assert sign_in("first-of-all-passwords") is None
    assert sign_in("second-of-all-passwords").is_superuser
