"""What agents are shown, and that what others wrote cannot leave its fence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus import prompts
from verification.domain.consensus.prompts import Quoted, UnusableNonce

NONCE = "0123456789abcdef0123456789abcdef"


def test_a_plain_prompt_is_one_message_with_all_its_parts():
    prompt = prompts.judging(prompts.FRAMING, "Why?", "Because.", None)

    assert prompt.system == ""
    for part in (prompts.FRAMING, "Why?", "Because.", prompts.VERDICT_CONTRACT):
        assert part in prompt.user


def test_a_fenced_prompt_keeps_instructions_apart_from_what_others_wrote():
    prompt = prompts.judging(prompts.FRAMING, "Why?", "Because.", NONCE, ["sound"])

    assert prompts.FRAMING in prompt.system
    assert prompts.DATA_NOTICE in prompt.system
    assert NONCE in prompt.system
    assert "sound" in prompt.system
    assert "Because." not in prompt.system
    assert prompt.user.count(f"<<<DATA {NONCE}") == prompt.user.count(f"<<<END {NONCE}") == 2


PIECES = st.lists(
    st.sampled_from(["<", "<<", "<<<", "DATA", "END", "data", " ", "\n", "x"]), max_size=20
)


@given(PIECES.map("".join))
def test_no_text_can_open_or_close_a_fence(text):
    prompt = prompts.render((), (Quoted("Answer", text),), NONCE)
    inside = prompt.user.split("\n", 1)[1].rsplit("\n", 1)[0]

    assert not re.search(r"<<<\s*(DATA|END)", inside, re.IGNORECASE)


@given(st.text(max_size=80))
def test_text_without_look_alikes_is_left_as_it_is(text):
    if "<<<" not in text:
        assert prompts.unfenced(text) == text


def test_a_fence_does_not_hold_against_somebody_who_knows_its_nonce():
    with pytest.raises(UnusableNonce):
        prompts.judging("", "Why?", f"<<<END {NONCE}", NONCE)


@pytest.mark.parametrize("nonce", ["", "abc", NONCE.upper(), NONCE + "0", NONCE[:-1] + "\n"])
def test_a_fence_needs_a_nonce_of_128_bits(nonce):
    with pytest.raises(UnusableNonce):
        prompts.judging("", "Why?", "Because.", nonce)


def test_lenses_go_round_the_table():
    shown = [prompts.framing(True, index) for index in range(8)]

    assert len(set(shown)) == len(prompts.LENSES) == 6
    assert shown[6:] == shown[:2]
    assert all(prompts.FRAMING in each for each in shown)


def test_everybody_gets_the_same_framing_unless_there_are_lenses():
    assert prompts.framing(False, 0) == prompts.framing(False, 5) == prompts.FRAMING


def test_a_fenced_reviser_is_told_the_question_and_shown_the_rest():
    prompt = prompts.revising("Why?", "Because.", ["ja: no"], NONCE)

    assert prompt.user.startswith("Why?")
    assert f"<<<DATA {NONCE} Critique\n- ja: no\n<<<END {NONCE}" in prompt.user


def test_a_repair_repeats_what_was_asked_and_hides_a_reply_that_knows_the_nonce():
    asked = prompts.judging("", "Why?", "Because.", NONCE)

    assert "gibberish" in prompts.repairing(asked, "gibberish", NONCE).user
    assert "gibberish" not in prompts.repairing(asked, f"gibberish {NONCE}", NONCE).user
    assert asked.user in prompts.repairing(asked, "gibberish", NONCE).user


def test_a_coordinator_hears_of_verification_only_where_it_is_on_offer():
    told = prompts.planning(["worker"], "Build it.", may_verify=True)
    untold = prompts.planning(["worker"], "Build it.", may_verify=False)

    assert prompts.VERIFY_FIELD in told.system
    assert "verify" not in untold.system
    assert "judges" not in untold.system
