"""Requests made up from the Console's own API description, mostly wrong ones.

Written by hand on Hypothesis: the releases of schemathesis and of what it stands on do not fit
together.
"""

from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories import add_host_named, decided, event, send, verified
from tests.web import serving_web

EXAMPLES = 40
KNOWN = ("r-1", "r-1-e1", "alpha", "1", "0", "-1", "99999999999999999999", "~2F", "00", "\0", "..")

words = st.sampled_from(KNOWN) | st.text(max_size=40)
numbers = st.integers() | st.floats()
documents = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def api(transactional_db, settings):
    """A client with a key that may do everything a host may, where a run with a verdict is."""
    settings.HOST_SURFACE = True
    with serving_web() as web:
        host = add_host_named("alpha", workspace="acme")
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        headers = {"Authorization": f"Bearer {host.key_for_tests}"}
        with httpx.Client(base_url=web.url, headers=headers, timeout=30) as client:
            yield client


def test_no_request_ends_in_a_server_error_or_a_page(api):
    described = api.get("/api/v1/openapi.json").json()
    operations = [
        (method, path, what)
        for path, methods in described["paths"].items()
        for method, what in methods.items()
    ]
    assert len(operations) > 20

    for method, path, operation in operations:
        attack(api, method, path, operation)


def attack(api, method, path, operation):
    """Try one operation with what its description names, filled with anything."""
    named = {"path": [], "query": [], "header": [], "cookie": []}
    for each in operation.get("parameters", []):
        named[each["in"]].append(each["name"])
    named["query"] = [name for name in named["query"] if name != "wait"]  # up to a minute
    fields = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    known = fields.get("schema", {}).get("properties", {})
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
    )
    def is_answered(places, query, body):
        address = path
        for name, value in places.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        sent = {} if method == "get" else {"json": body}
        try:
            request = api.build_request(method.upper(), address, params=query, **sent)
        except ValueError:  # what JSON cannot say, such as NaN, is tried elsewhere as bytes
            return
        answer = api.send(request)
        told = f"{method} {address} {query}: {answer.status_code}"
        assert answer.status_code < 500, told
        assert "text/html" not in answer.headers.get("content-type", ""), told

    is_answered()
