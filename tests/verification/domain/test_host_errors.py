"""One sentence for a person per error of a host."""

import pytest

from verification.domain.host_errors import ALIASES, SENTENCES, canonical_code, sentence


def test_every_sentence_is_one():
    for text in SENTENCES.values():
        assert text.endswith(".")
        assert len(text) <= 100


def test_no_two_words_of_a_registered_code_are_shown_raw():
    assert sentence(410, "interrupt_expired") == "The host's interrupt has expired."
    assert sentence(401, "key_revoked") == "The API key we hold for the host was revoked."


@pytest.mark.parametrize(
    ("code", "canonical"),
    [
        ("openwop-app.interrupt_gone", "interrupt_gone"),
        ("idempotency_key_conflict", "idempotency_key_mismatch"),
        ("rate_limited", "rate_limited"),
        ("", ""),
    ],
)
def test_live_spellings_are_known_by_their_registered_name(code, canonical):
    assert canonical_code(code) == canonical
    assert set(ALIASES.values()) <= set(SENTENCES)


def test_an_unknown_code_is_never_repeated():
    assert sentence(409, "canary_code") == "The host says this was answered or changed already."
    assert "canary" not in sentence(418, "canary_code")


@pytest.mark.parametrize("status", [200, 302, 400, 404, 418, 429, 500, 599])
def test_every_status_has_words(status):
    assert sentence(status, "").endswith(".")


@pytest.mark.parametrize("why", ["timeout", "reset", "garbled"])
def test_an_unknown_outcome_says_that_it_is_not_known(why):
    assert "not known" in sentence(None, "", why)


def test_silence_has_words_too():
    assert sentence(None, "") == "The host could not be reached."
    assert sentence(None, "", "refused") == "Nothing listens at the host's address."
