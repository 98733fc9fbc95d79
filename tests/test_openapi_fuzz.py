"""Requests made up from the Console's own API description, mostly wrong ones.

Whatever is answered must be one of the answers that the description names, in the shape that it
says. Written by hand on Hypothesis: the releases of schemathesis and of what it stands on do not
fit together.
"""

import uuid
from urllib.parse import quote, unquote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openwop_console.errors import JSON, PROBLEM
from runs.actions.people import grant
from runs.models import Role, Workspace
from tests.description import Description
from tests.factories import add_host_named, decided, event, person, send, verified
from tests.web import serving_web
from verification.actions.tokens import create_token

EXAMPLES = 40
KNOWN = (
    "r-1",
    "r-1-e1",
    "alpha",
    "1",
    "0",
    "-1",
    "99999999999999999999",
    "~2F",
    "a~00",
    "\0",
    "..",
)

words = st.sampled_from(KNOWN) | st.text(max_size=40)
numbers = st.integers() | st.floats()
documents = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def api(transactional_db, settings):
    """A client, where a run with a verdict is; whoever asks says so."""
    settings.HOST_SURFACE = True
    with serving_web() as web, httpx.Client(base_url=web.url, timeout=30) as client:
        yield client


@pytest.fixture
def key(api):
    """A key that may do everything a host may."""
    host = add_host_named("alpha", workspace="acme")
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    return host.key_for_tests


@pytest.fixture
def token(key):
    """A token of a person who may do everything."""
    ada = person("ada")
    grant(user=ada, workspace=Workspace.objects.get(slug="acme"), role=Role.ADMIN)
    return create_token(user=ada, name="fuzz")


def test_every_answer_is_one_that_is_described(api, key, token):
    described = Description(api.get("/api/v1/openapi.json").json())
    operations = list(described.operations())
    assert len(operations) > 20

    for method, path, operation in operations:
        callers = {name for each in operation["security"] for name in each}
        for bearer in {"hostKey": key, "personalToken": token, "webhookSignature": ""}.items():
            if bearer[0] in callers:
                attack(api, described, (method, path, operation), bearer[1])


def attack(api, described, of, bearer):
    """Try one operation with what its description names, filled with anything."""
    method, path, operation = of
    named = {"path": [], "query": [], "header": [], "cookie": []}
    for each in operation.get("parameters", []):
        named[each["in"]].append(each["name"])
    named["query"] = [name for name in named["query"] if name != "wait"]  # up to a minute
    fields = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    known = described.at(fields.get("schema", {})).get("properties", {})
    bodies = documents | st.fixed_dictionaries({}, optional=dict.fromkeys(known, documents))

    @settings(
        max_examples=EXAMPLES,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        places=st.fixed_dictionaries(dict.fromkeys(named["path"], words.filter(bool))),
        query=st.fixed_dictionaries({}, optional=dict.fromkeys(named["query"], words)),
        body=bodies,
        accept=st.sampled_from(("*/*", "application/problem+json")),
    )
    def is_answered(places, query, body, accept):
        address = path
        for name, value in places.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        sent = {} if method == "get" else {"json": body}
        headers = {"Accept": accept, "Idempotency-Key": str(uuid.uuid4())}
        headers |= {"Authorization": f"Bearer {bearer}"} if bearer else {}
        try:
            request = api.build_request(
                method.upper(), address, params=query, headers=headers, **sent
            )
        except ValueError:  # what JSON cannot say, such as NaN, is tried elsewhere as bytes
            return
        answer = api.send(request)
        told = f"{method} {address} {query}: {answer.status_code} {answer.text[:300]}"
        assert answer.status_code < 500, told
        kind = answer.headers.get("content-type", "")
        if is_elsewhere(path, address):
            assert kind in (JSON, PROBLEM), told
            return
        fault = described.fault_in(operation, answer.status_code, kind, answer.json())
        assert fault is None, f"{told}: {fault}"

    is_answered()


def is_elsewhere(path, address):
    """Say whether what was filled in makes it another address, or none, as `..` or a slash does."""
    return address.count("/") != path.count("/") or any(
        part in (".", "..") for part in unquote(address).split("/")
    )
