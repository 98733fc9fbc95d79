"""Environment variables that make no sense stop the start, by name."""

import pytest

from openwop_console.environment import BadSetting, seed, text

SEED = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"


@pytest.mark.parametrize("value", [SEED, f"{SEED}="])
def test_a_seed_is_taken_with_or_without_its_padding(monkeypatch, value):
    monkeypatch.setenv("A_SEED", value)

    assert seed("A_SEED") == value


def test_no_seed_is_no_seed(monkeypatch):
    monkeypatch.delenv("A_SEED", raising=False)

    assert seed("A_SEED") == ""


@pytest.mark.parametrize("value", ["secret", "AAEC", f"{SEED}AAAA", "é"])
def test_a_seed_of_another_length_stops_the_start_and_is_not_repeated(monkeypatch, value):
    monkeypatch.setenv("A_SEED", value)

    with pytest.raises(BadSetting, match="A_SEED") as stopped:
        seed("A_SEED")
    assert value not in str(stopped.value)


def test_a_token_that_is_short_enough_to_guess_stops_the_start(monkeypatch):
    monkeypatch.setenv("A_TOKEN", "guess-me")
    with pytest.raises(BadSetting, match="A_TOKEN") as stopped:
        text("A_TOKEN", least=24)
    assert "guess-me" not in str(stopped.value)

    monkeypatch.setenv("A_TOKEN", "x" * 24)
    assert text("A_TOKEN", least=24) == "x" * 24
    monkeypatch.delenv("A_TOKEN")
    assert text("A_TOKEN", least=24) == ""


def test_a_token_may_be_in_a_file(monkeypatch, tmp_path):
    (tmp_path / "token").write_text("y" * 24 + "\n")
    monkeypatch.delenv("A_TOKEN", raising=False)
    monkeypatch.setenv("A_TOKEN_FILE", str(tmp_path / "token"))

    assert text("A_TOKEN", least=24) == "y" * 24
