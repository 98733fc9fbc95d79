"""People, hosts and events that tests are about, made through the actions that make them."""

import pytest
from django.contrib.auth.models import User
from hypothesis import settings

from runs.actions.people import grant
from runs.models import Host, Role, Workspace
from tests.factories import add_host_named, person

settings.register_profile("untimed", parent=settings(), deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def host(db) -> Host:
    """A host of the workspace `acme`."""
    return add_host_named("alpha", workspace="acme")


@pytest.fixture
def other_host(db) -> Host:
    """A host of another tenant."""
    return add_host_named("omega", workspace="other")


@pytest.fixture
def ada(host) -> User:
    """Reviewer in acme."""
    return _member("ada", host, Role.REVIEWER)


@pytest.fixture
def ben(host) -> User:
    """Reviewer in acme, whose claims are other people's to ada."""
    return _member("ben", host, Role.REVIEWER)


@pytest.fixture
def cy(host) -> User:
    """Signed in, sees acme, decides nothing."""
    return _member("cy", host, Role.VIEWER)


def _member(name: str, host: Host, role: Role) -> User:
    user = person(name)
    grant(user=user, workspace=Workspace.objects.get(pk=host.workspace_id), role=role)
    return user
