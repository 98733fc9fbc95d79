import pytest

from runs.domain.pointers import pointer


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ((), ""),
        (("payload", "nodeId"), "/payload/nodeId"),
        (("events", 3, "a.b-c_d"), "/events/3/a.b-c_d"),
        (("payload", "the answer is 42", "x"), "/payload"),
        (("payload", "a/b"), "/payload"),
        (("payload", "x" * 65), "/payload"),
        (("payload", ""), "/payload"),
        (("payload", "1st"), "/payload"),
    ],
)
def test_a_pointer_stops_before_a_key_that_could_be_content(path, said):
    assert pointer(path) == said
