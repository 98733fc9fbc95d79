"""Environment variables that make no sense stop the start, by name."""

import pytest

from openwop_console.environment import BadSetting, seed

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
