"""`evidence verify`: without a Console, a network or a database."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from openwop_console.cli import main
from verification.domain.evidence import key_from_seed, signed

KEY = key_from_seed("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
DOCUMENT = {
    "issuedAt": "2026-11-30T08:00:00.000Z",
    "finding": {
        "kind": "merged_after_fail",
        "severity": "violation",
        "status": "standing",
        "explanation": "critic-1 said fail at sequence 2.",
    },
    "run": {"runId": "r-1", "host": "alpha"},
    "events": [],
}
EVIDENCE = signed(DOCUMENT, KEY)
KEY_ID = EVIDENCE["signature"]["keyId"]


@pytest.fixture
def verify(tmp_path):
    def run(document, *words):
        file = tmp_path / "evidence.json"
        text = document if isinstance(document, str) else json.dumps(document)
        file.write_text(text)
        return CliRunner().invoke(main, ["evidence", "verify", str(file), *words])

    return run


def test_what_is_whole_is_told_with_what_it_says(verify):
    found = verify(EVIDENCE)

    assert found.exit_code == 0
    assert "merged_after_fail (violation, standing) in run r-1 of host alpha" in found.output
    assert f"Signed with key {KEY_ID}" in found.output
    assert "compare it with the Console's" in found.output


def test_other_things_that_the_console_signs_can_be_checked_too(verify):
    found = verify(signed({"type": "audit-checkpoint"}, KEY))

    assert (found.exit_code, "Whole: audit-checkpoint." in found.output) == (0, True)


def test_whose_key_it_is_can_be_demanded(verify):
    assert "compare" not in verify(EVIDENCE, "--key", KEY_ID).output
    assert verify(EVIDENCE, "--key", "0" * 16).exit_code == 1


@pytest.mark.parametrize("part", ["finding", "run", "events", "issuedAt"])
def test_what_was_changed_is_refused(verify, part):
    found = verify({**EVIDENCE, part: "other"})

    assert found.exit_code == 1
    assert "changed after it was signed" in found.output


@pytest.mark.parametrize("text", ["", "{}", "no json", '{"format": 1}'])
def test_what_is_no_evidence_is_told_apart(verify, text):
    assert verify(text).exit_code == 2


def test_the_answer_can_be_read_by_programs(verify):
    found = verify(EVIDENCE, "-o", "json")

    assert json.loads(found.stdout) == {
        "valid": True,
        "keyId": KEY_ID,
        "publicKey": EVIDENCE["signature"]["publicKey"],
    }


def test_it_needs_neither_django_nor_a_database(tmp_path):
    file = tmp_path / "evidence.json"
    file.write_text(json.dumps(EVIDENCE))
    code = (
        "import sys; from openwop_console.cli import main\n"
        f"main(['evidence', 'verify', {str(file)!r}], standalone_mode=False)\n"
        "sys.exit('django.db' in sys.modules or 'psycopg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
