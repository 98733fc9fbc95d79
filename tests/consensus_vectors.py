"""Runs consensus golden vectors: `python -m tests.consensus_vectors DIRECTORY`.

Prints one line a vector and then `N passed, N failed`; the exit status is 0 when none failed. A
vector passes when the engine did exactly what is recorded, or when one of the five deliberate
deviations alone explains the difference; its line then names the deviation.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.consensus.comparison import differences, run
from tests.consensus.deviations import Deviation, explanation

_MISRECORDED = "verifyFieldDescribed"
"""Recorded as true throughout, also in vectors whose description says that the field is not
described because there are no judges. The description and the documentation are followed."""


_PARTS = frozenset({"formatVersion", "operation", "expected"})
"""Keys that make a file a vector, or what was meant to be one."""


@dataclass(frozen=True)
class Report:
    """How one vector went."""

    name: str
    differences: tuple[str, ...] = ()
    deviation: Deviation | None = None

    @property
    def has_passed(self) -> bool:
        return not self.differences or self.deviation is not None

    def __str__(self) -> str:
        if not self.differences:
            return f"passed  {self.name}"
        if self.deviation is not None:
            return f"passed  {self.name}  (deviates: {self.deviation.name})"
        return f"FAILED  {self.name}: " + "; ".join(self.differences[:5])


def check(vector: Mapping[str, Any]) -> Report:
    """Run one vector and report on it; what is no vector fails."""
    try:
        return _compared(vector)
    except Exception as error:  # A vector that cannot even be run must not hide the others.
        return Report(vector["name"], (f"{type(error).__name__}: {error}",))


def _compared(vector: Mapping[str, Any]) -> Report:
    if vector["formatVersion"] != 1:
        return Report(vector["name"], ("not a vector of a format that is known",))
    expected, actual = _as_described(vector), run(vector)
    differing = tuple(differences(expected, actual))
    deviation = explanation(vector, expected, actual) if differing else None
    return Report(vector["name"], differing, deviation)


def _as_described(vector: Mapping[str, Any]) -> dict[str, Any]:
    is_described = bool(vector["input"]["options"].get("verifyJudges"))
    calls = []
    for call in vector["expected"]["calls"]:
        contains = dict(call["promptContains"])
        if _MISRECORDED in contains:
            contains[_MISRECORDED] = is_described
        calls.append(call | {"promptContains": contains})
    return {**vector["expected"], "calls": calls}


def read(directory: Path) -> list[dict[str, Any]]:
    """Read every vector below a directory, in order of file names.

    What cannot be read comes as a vector that fails; an object that has nothing of a vector, such
    as the vectors' own schema, is left out.
    """
    found = [_read_file(path) for path in sorted(directory.rglob("*.json"))]
    return [each for each in found if each is not None]


def _read_file(path: Path) -> dict[str, Any] | None:
    try:
        read_ = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return _no_vector(path, "not JSON")
    if not isinstance(read_, dict):
        return _no_vector(path, "not an object")
    if _PARTS.isdisjoint(read_):
        return None
    return read_ if isinstance(read_.get("name"), str) else _no_vector(path, "no name")


def _no_vector(path: Path, why: str) -> dict[str, Any]:
    return {"formatVersion": None, "name": f"{path.name} ({why})"}


def main(directory: str) -> int:
    """Run all vectors of a directory; 0 when none failed."""
    reports = [check(vector) for vector in read(Path(directory))]
    for report in reports:
        print(_on_one_line(str(report)))
    passed = sum(report.has_passed for report in reports)
    print(f"{passed} passed, {len(reports) - passed} failed")
    return 0 if reports and passed == len(reports) else 1


def _on_one_line(text: str) -> str:
    """Escape what would break the line, or could not be printed."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.consensus_vectors DIRECTORY")
    sys.exit(main(sys.argv[1]))
