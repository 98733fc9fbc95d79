"""Models that live in the worker's own process, for drills that need very many calls.

What they say depends on what they are asked and on nothing else; every call leaves a line in a
file, whatever becomes of the process.
"""

import hashlib
import json
import os
import re
import time
from pathlib import Path

from tests.model_server import NONCE
from verification.calls import Endpoint, Question, Said
from verification.domain.consensus.history import Usage

_PART = re.compile(r"Write part (\d+)\.")
_JUDGED = re.compile(r"Version (\d+) of part (\d+)\.")


class ScriptedCall:
    """Stands where `judges.Call` stands."""

    def __init__(self, endpoint: Endpoint, question: Question) -> None:
        prompt = f"{question.prompt.system}\n{question.prompt.user}"
        self._text = said(endpoint.model, prompt)
        self._usage = Usage(len(prompt) // 4, len(self._text) // 4)
        digest = hashlib.sha256(prompt.encode()).hexdigest()
        self._note(f"{endpoint.model} {digest}\n")

    def wait(self, seconds: float) -> Said | None:
        time.sleep(0.005)
        return Said(self._text, self._usage, None)

    def call_off(self) -> None:
        """Nothing goes on."""

    def _note(self, line: str) -> None:
        with Path(os.environ["DRILL_CALLS"]).open("a") as file:
            file.write(line)


def said(model: str, prompt: str) -> str:
    """Reply as a worker, or as judges of whom one rejects the first version of part 2."""
    if model != "solver":
        version, part = _JUDGED.search(prompt).groups()
        is_accepted = model == "judge-b" or (version, part) != ("1", "2")
        nonce = NONCE.search(prompt).group(1)
        return json.dumps({"nonce": nonce, "accept": is_accepted, "critique": "Say more."})
    part = _PART.search(prompt)
    version = 2 if "Critique" in prompt else 1
    return f"Version {version} of part {part.group(1) if part else 5}."
