import re
from pathlib import Path

import pytest

from runs.domain import answers
from runs.domain.answers import message_of

DOMAIN = Path(answers.__file__).parent
RAISED = re.compile(
    r'(?:JsonRefused|BodyRefused|_Wrong|Fault|_missing_or)\((?:[A-Z_]+, )?"([a-z_]+)"'
)
REASONS = sorted(
    {
        reason
        for name in ("batch", "careful_json", "envelope")
        for reason in RAISED.findall((DOMAIN / f"{name}.py").read_text())
    }
)


def test_reasons_are_found_in_the_rules():
    assert {"json_invalid", "batch_empty", "timestamp_invalid", "required"} <= set(REASONS)


@pytest.mark.parametrize(
    "reason",
    [
        *REASONS,
        "type",
        "schema",
        "id_charset",
        "id_reserved",
        "payload_schema",
        "item_invalid",
        "verifier_content_leak",
        "event_id_conflict",
        "sequence_conflict",
    ],
)
def test_every_reason_has_one_sentence_of_its_own(reason):
    message = message_of(reason)

    assert message != message_of("unheard of")
    assert message.endswith(".")
    assert message.count(". ") == 0


def test_an_unknown_reason_has_a_sentence_too():
    assert message_of("unheard of")
