"""What is written into the log is what is read from it, whatever characters it is made of."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.models import Event
from tests.factories import event, send

pytestmark = pytest.mark.django_db

PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=40)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PRINTABLE, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text", ["\\", "\\N", "\\.", "a\\tb", "\t", "\n", "\r\n", "'", '"', "☃\\☃"]
)
def test_a_text_that_copy_could_mistake_for_its_own_comes_back(host, text):
    send(host, event(0, payload={"text": text, text: [text]}))

    assert Event.objects.get().payload == {"text": text, text: [text]}


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(id_=PRINTABLE, node=PRINTABLE, payload=JSON, extra=JSON)
def test_every_event_comes_back_as_it_was_sent(host, id_, node, payload, extra):
    run = f"r-{abs(hash((id_, node, str(payload), str(extra))))}"
    sent = event(3, run=run, nodeId=node, payload=payload, hostBuild=extra) | {"eventId": id_}
    send(host, sent)

    (kept,) = Event.objects.filter(run__run_id=run)
    assert (kept.event_id, kept.node_id, kept.payload) == (id_, node, payload)
    assert kept.extra == ({} if extra is None else {"hostBuild": extra})
    assert (kept.sequence, kept.place, kept.position) == (3, 3, 1)
