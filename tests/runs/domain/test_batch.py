import gzip
import json
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.batch import Form, events_of, form_of, inflate, unpacked
from runs.domain.limits import Limits
from runs.domain.refusals import BodyRefused, Refused
from tests.runs.domain.events import event, verdict

LIMITS = Limits()
SMALL = Limits(batch_events=2, depth=4)


def raw(document) -> bytes:
    return json.dumps(document).encode()


def reasons(items):
    return [item.reason if isinstance(item, Refused) else None for _, item in items]


# --- What a body is ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "form", "is_single"),
    [
        (raw(event()), Form.JSON, True),
        (raw([event()]), Form.JSON, False),
        (raw({"events": [event()]}), Form.JSON, False),
        (raw(event()) + b"\n", Form.NDJSON, False),
    ],
)
def test_every_form_of_a_body_has_the_same_event_in_it(body, form, is_single):
    batch = events_of(body, form, LIMITS)

    assert list(batch.items) == [(0, event())]
    assert batch.is_single == is_single


def test_items_keep_their_place():
    documents = [event(sequence=n) for n in range(3)]

    assert list(events_of(raw(documents), Form.JSON, LIMITS).items) == list(enumerate(documents))


def test_an_event_may_have_a_field_that_is_called_events():
    document = event(events=[1])

    assert list(events_of(raw(document), Form.JSON, LIMITS).items) == [(0, document)]


@pytest.mark.parametrize(
    ("body", "form", "error", "reason"),
    [
        (b"", Form.JSON, "validation_error", "json_invalid"),
        (b"3", Form.JSON, "validation_error", "json_not_object"),
        (b"[]", Form.JSON, "validation_error", "batch_empty"),
        (b'{"events": []}', Form.JSON, "validation_error", "batch_empty"),
        (b"\n \n", Form.NDJSON, "validation_error", "batch_empty"),
        (b"[{}, {}, {}]", Form.JSON, "payload_too_large", "batch_too_many"),
        (b"{}\n{}\n{}\n", Form.NDJSON, "payload_too_large", "batch_too_many"),
        (b'{"events": {}}', Form.JSON, "validation_error", "type"),
        (b'{"events": [{}], "tenant": 1}', Form.JSON, "validation_error", "additional_property"),
        (b'{"events": [{}], "events": [{}]}', Form.JSON, "validation_error", "json_duplicate_key"),
        (b'{"events": [{}], "x": "\\u0000"}', Form.JSON, "validation_error", "additional_property"),
    ],
)
def test_a_body_of_which_nothing_is_an_event_is_refused_whole(body, form, error, reason):
    with pytest.raises(BodyRefused) as refused:
        events_of(body, form, SMALL)

    assert (refused.value.error, refused.value.reason) == (error, reason)


@pytest.mark.parametrize("wrap", [list, lambda items: {"events": items}])
def test_a_fault_inside_one_item_is_that_item_s_alone(wrap):
    good, poisoned = event(sequence=1), event(sequence=2, payload={"a": "\0"})

    items = events_of(raw(wrap([good, poisoned, [good], None])), Form.JSON, LIMITS).items

    assert reasons(items) == [None, "nul_character", "item_invalid", "item_invalid"]
    assert items[1][1].pointer == "/payload/a"
    assert items[1][1].sequence == 2


def test_a_bad_line_leaves_the_others():
    body = raw(event()) + b'\n{"eventId": \n' + raw(event(sequence=2)) + b"\n[]\n"

    items = events_of(body, Form.NDJSON, LIMITS).items

    assert reasons(items) == [None, "json_invalid", None, "item_invalid"]


@pytest.mark.parametrize(
    "wrap", [lambda item: item, lambda item: [item], lambda item: {"events": [item]}]
)
@pytest.mark.parametrize(("levels", "reason"), [(2, None), (3, "json_too_deep")])
def test_depth_is_that_of_the_event_however_it_is_wrapped(wrap, levels, reason):
    nested: object = 1
    for _ in range(levels):
        nested = [nested]

    items = events_of(raw(wrap(event(payload={"x": nested}))), Form.JSON, SMALL).items

    assert reasons(items) == [reason]


@given(st.lists(st.integers(0, 9).map(lambda n: event(sequence=n)), min_size=1, max_size=5))
def test_the_same_events_come_out_of_every_form(documents):
    as_lines = b"\n".join(raw(document) for document in documents)

    assert (
        events_of(raw(documents), Form.JSON, LIMITS).items
        == events_of(raw({"events": documents}), Form.JSON, LIMITS).items
        == events_of(as_lines, Form.NDJSON, LIMITS).items
    )


# --- What may have been a verdict ----------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        ('"verdict": "fail"', '"verdict": "fail", "verdict": "pass"'),
        ('"type": "agent.verified"', '"type": "node.completed", "type": "agent.verified"'),
        ('"type": "agent.verified"', '"type": "agent.verified", "type": "node.completed"'),
        ('"e42"', '"e42\\u0000"'),
        ("0.9", "1e999"),
    ],
)
def test_a_verdict_that_is_not_read_alike_by_all_holds_its_run(change):
    body = json.dumps(verdict()).replace(*change).encode()

    [(_, refused)] = events_of(body, Form.JSON, LIMITS).items

    assert isinstance(refused, Refused)
    assert (refused.holds, refused.run_id) == (True, "run-a")


def test_another_event_with_the_same_fault_holds_nothing():
    body = json.dumps(event()).replace('"n1"', '"n\\u0000"').encode()

    [(_, refused)] = events_of(body, Form.JSON, LIMITS).items

    assert (refused.reason, refused.holds) == ("nul_character", False)


def test_a_run_that_is_named_twice_is_not_told():
    body = json.dumps(verdict()).replace('"run-a"', '"run-a", "runId": "run-b"').encode()

    [(_, refused)] = events_of(body, Form.JSON, LIMITS).items

    assert (refused.reason, refused.run_id) == ("json_duplicate_key", None)


# --- Headers and encodings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("application/json", Form.JSON),
        ('Application/JSON; Charset="UTF-8"', Form.JSON),
        ("application/json;charset=utf8", Form.JSON),
        ("application/x-ndjson", Form.NDJSON),
        ("application/ndjson; charset=utf-8", Form.NDJSON),
    ],
)
def test_known_media_types_say_how_a_body_is_written(header, form):
    assert form_of(header) is form


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "media_type"),
        ("text/plain", "media_type"),
        ("application/json-seq", "media_type"),
        ("nonsense", "media_type"),
        ("application/json; charset=utf-16", "charset_unsupported"),
        ("application/json; charset*=utf-8''rot13", "charset_unsupported"),
    ],
)
def test_other_media_types_are_refused(header, reason):
    with pytest.raises(BodyRefused) as refused:
        form_of(header)

    assert (refused.value.error, refused.value.reason) == ("unsupported_media_type", reason)


def test_gzip_is_undone_and_nothing_else():
    packed = gzip.compress(b"{}")

    assert unpacked(packed, "GZIP", LIMITS) == b"{}"
    assert unpacked(b"{}", "", LIMITS) == unpacked(b"{}", "identity", LIMITS) == b"{}"
    with pytest.raises(BodyRefused, match="content_encoding"):
        unpacked(packed, "gzip, gzip", LIMITS)


def test_a_body_at_the_limit_is_taken_and_one_byte_more_is_not():
    limits = Limits(body_bytes=10)

    assert unpacked(b"x" * 10, "", limits) == inflate(gzip.compress(b"x" * 10), 10)
    for raw_body, encoding in ((b"x" * 11, ""), (gzip.compress(b"x" * 11), "gzip")):
        with pytest.raises(BodyRefused) as refused:
            unpacked(raw_body, encoding, limits)
        assert (refused.value.error, refused.value.reason) == (
            "payload_too_large",
            "body_too_large",
        )


def test_a_bomb_is_not_inflated():
    bomb = gzip.compress(b"\0" * 100_000_000, compresslevel=1)

    tracemalloc.start()
    with pytest.raises(BodyRefused, match="body_too_large"):
        inflate(bomb, LIMITS.body_bytes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 3 * LIMITS.body_bytes


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"not gzip at all",
        gzip.compress(b"{}", mtime=0)[:-1],
        gzip.compress(b"{}", mtime=0) + b"x",
        gzip.compress(b"{}", mtime=0) * 2,
        zlib.compress(b"{}"),
    ],
)
def test_anything_but_one_whole_gzip_member_is_refused(packed):
    with pytest.raises(BodyRefused, match="content_encoding"):
        inflate(packed, 100)
