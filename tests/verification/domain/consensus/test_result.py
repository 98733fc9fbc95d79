"""What a gate is told: only a quorum passes."""

import pytest

from verification.domain.consensus.result import (
    Basis,
    GateVerdict,
    Result,
    Verdict,
    Vote,
    gate_verdict,
    verdict_of,
)


@pytest.mark.parametrize("basis", list(Basis))
def test_only_a_quorum_passes_and_keeping_asks_for_a_revision(basis):
    expected = {Basis.QUORUM: GateVerdict.PASS, Basis.KEPT: GateVerdict.REVISE}

    assert gate_verdict(basis) is expected.get(basis, GateVerdict.FAIL)


@pytest.mark.parametrize("basis", list(Basis))
def test_a_quorum_and_keeping_are_both_called_accepted(basis):
    is_accepted = basis in (Basis.QUORUM, Basis.KEPT)

    assert (verdict_of(basis) is Verdict.ACCEPTED) is is_accepted


def test_dissent_is_kept_even_where_the_answer_was_accepted():
    votes = (Vote("ja", 1, False, "no"), Vote("jb", 1, True))

    assert Result(answer="A", basis=Basis.QUORUM, votes=votes).dissent == ("ja: no",)
