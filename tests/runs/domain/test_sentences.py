import pytest

from runs.domain.log import LogLine, Origin
from runs.domain.sentences import sentence


def told(template, payload, node_id=None):
    line = LogLine(1, Origin.HOST, 1, "e1", "acme.x", payload, node_id)
    return sentence(template).about(line)


@pytest.mark.parametrize(
    ("template", "payload", "said"),
    [
        ("Done", None, "Done"),
        ("Failed[: {code}]", {"code": "late"}, "Failed: late"),
        ("Failed[: {code}]", {}, "Failed"),
        ("Failed[: {error.code|code}]", {"code": "late"}, "Failed: late"),
        ("Failed[: {error.code|code}]", {"error": {"code": "a"}, "code": "b"}, "Failed: a"),
        ("Failed[: {error.code|code}]", {"error": "x", "code": {}}, "Failed"),
        ("At[ {a} of {b}]", {"a": 1}, "At"),
        ("At[ {a} of {b}]", {"a": 1, "b": 2.5}, "At 1 of 2.5"),
        ("Ok[: {flag}]", {"flag": False}, "Ok: no"),
        ("Says[ {text~}]", {"text": " two\nlines "}, "Says “two lines”"),
        ("Says[ {text~}]", {"text": 3}, "Says"),
        ("Is[ {word!}]", {"word": "done"}, "Is done"),
        ("Is[ {word!}]", {"word": "no prose"}, "Is"),
        ("Has[ {all#}]", {"all": [1, 2]}, "Has 2"),
        ("Has[ {all#}]", {"all": "ab"}, "Has"),
        ("Of[ {all,}]", {"all": ["a", "b", "c", "d", "e"]}, "Of a, b, c and 2 more"),
        ("Of[ {all,}]", {"all": [{}, None]}, "Of"),
        ("Gate[ {state_}]", {"state": "revise_asked"}, "Gate revise asked"),
        ("Gate[ {state_}]", {"state": {}}, "Gate"),
        ("[{who} ]came", {"who": "ada"}, "ada came"),
        ("[{who} ]came", {}, "Came"),
    ],
)
def test_gaps_are_filled_or_left_out(template, payload, said):
    assert told(template, payload) == said


def test_the_node_is_found_in_the_payload_or_on_the_envelope():
    assert told("Node[ {node}]", {"nodeId": "inside"}, "outside") == "Node inside"
    assert told("Node[ {node}]", None, "outside") == "Node outside"
    assert told("Node[ {node}]", {"nodeId": 3}) == "Node"
