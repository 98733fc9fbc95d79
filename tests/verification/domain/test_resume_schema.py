"""Schemas from hosts are checked offline, and a useless one checks nothing."""

import socket
import threading

import pytest

from verification.domain.resume_schema import ResumeMismatch, Wrong, is_usable, mismatches


@pytest.mark.parametrize(
    ("value", "schema", "wrong"),
    [
        ({"a": 1}, {"required": ["a"]}, ()),
        ({"a": "x"}, {"properties": {"a": {"type": "integer"}}}, (Wrong("/a", "type"),)),
        ({"a/b": 1}, {"properties": {"a/b": {"const": 2}}}, (Wrong("/a~1b", "const"),)),
        ([1, "x"], {"items": {"type": "integer"}}, (Wrong("/1", "type"),)),
        ("x", False, (Wrong("", "falseSchema"),)),
        ("x", True, ()),
        ("x", None, ()),
    ],
)
def test_each_miss_is_named_by_place_and_keyword(value, schema, wrong):
    assert mismatches(value, schema) == wrong


def test_the_value_never_shows():
    wrong = mismatches({"a": "CANARY"}, {"properties": {"a": {"enum": ["b"]}}})

    assert "CANARY" not in str(ResumeMismatch(wrong))


@pytest.mark.parametrize(
    "schema", [{"type": "bogus"}, {"$ref": "#/nowhere"}, {"$schema": "https://x/y"}, {"type": 3}]
)
def test_a_schema_that_cannot_be_used_checks_nothing(schema):
    assert not is_usable(schema)
    assert mismatches({"any": "thing"}, schema) == ()


def test_no_reference_is_ever_fetched(tmp_path):
    secret = tmp_path / "schema.json"
    secret.write_text('{"type": "integer"}')
    connections = []
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.settimeout(0.3)

        def listen():
            try:
                connections.append(canary.accept()[0])
            except TimeoutError:
                return

        listener = threading.Thread(target=listen)
        listener.start()
        port = canary.getsockname()[1]
        for url in (f"http://127.0.0.1:{port}/schema.json", secret.as_uri()):
            assert not is_usable({"$ref": url})
            assert not is_usable({"properties": {"a": {"$ref": url}}})
            assert mismatches("x", {"$ref": url}) == ()
        listener.join()

    assert connections == []


def test_a_hostile_pattern_does_not_hang():
    wrong = mismatches("a" * 60 + "b", {"pattern": "^(a+)+$"})

    assert len(wrong) == 1


def test_not_every_miss_is_listed():
    assert len(mismatches(["x"] * 500, {"items": {"type": "integer"}})) == 20
