"""The rule behind every kind of finding."""

import pytest

from verification.domain.findings import FindingKind
from verification.domain.rule_texts import RULES, Force


@pytest.mark.parametrize("kind", FindingKind)
def test_every_kind_of_finding_has_its_rule(kind):
    rule = RULES[kind]

    assert rule.text.endswith(".")
    assert rule.source


def test_what_a_host_can_violate_is_a_must():
    for kind in (FindingKind.MERGED_AFTER_FAIL, FindingKind.SUCCESS_AFTER_FAIL):
        assert RULES[kind].force is Force.MUST
