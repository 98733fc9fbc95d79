"""What a host's documents say about a pause, and the token that opens it."""

from verification.domain.surfaces import described_in, token_in, without_secrets

PAUSE = {
    "nodeId": "n",
    "interruptId": "i-1",
    "interruptToken": "t-1",
    "data": {"questions": [{"id": "q"}], "callbackUrl": "https://h/v1/interrupts/t-1"},
}


def test_the_token_of_the_same_pause_is_found_in_either_document():
    assert token_in([{"interrupt": PAUSE}], "n", "i-1") == "t-1"
    listed = {"interrupts": [{"nodeId": "n", "interruptId": "i-1", "token": "t-2"}]}
    assert token_in([None, listed], "n", "i-1") == "t-2"


def test_another_pause_lends_no_token():
    assert token_in([{"interrupt": PAUSE}], "n", "i-2") == ""
    assert token_in([{"interrupt": PAUSE}], "m") == ""


def test_a_token_that_is_no_text_or_without_end_is_none():
    for token in (7, None, "", "t" * 5000):
        assert token_in([{"interrupt": {**PAUSE, "interruptToken": token}}], "n") == ""


def test_a_description_holds_no_secret_at_any_depth():
    said = described_in([{"interrupt": PAUSE}], "n", "i-1")
    assert said == {"nodeId": "n", "interruptId": "i-1", "data": {"questions": [{"id": "q"}]}}
    assert without_secrets([{"token": "x", "a": [{"callbackUrl": "y"}]}]) == [{"a": [{}]}]


def test_garbage_says_nothing():
    for document in (None, [], "x", {"interrupt": "x"}, {"interrupts": {"a": 1}}):
        assert described_in([document], "n") is None
