"""Shared memory in few words: the last value of each key, and long ones cut short."""

from verification.domain.consensus.context import memory_summary
from verification.domain.consensus.observed import MemoryWrite


def test_a_key_that_was_overwritten_shows_its_last_value():
    writes = [MemoryWrite("ja", "note", "old"), MemoryWrite("jb", "note", "b")]

    summary = memory_summary([*writes, MemoryWrite("ja", "note", "new")])

    assert summary == "ja:\n- note: new\n\njb:\n- note: b"


def test_a_long_value_is_cut_short():
    summary = memory_summary([MemoryWrite("ja", "note", "x" * 300)])

    assert "x" * 197 + "…" in summary
    assert "x" * 198 not in summary


def test_an_empty_memory_is_not_mentioned():
    assert memory_summary([]) == ""
