"""The forms that start a run of tasks or of a team, and the one that takes any request as JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from openwop_console.pages.job_examples import EXAMPLES
from openwop_console.pages.job_new_frame import JSON, beginning_of, frame, started
from openwop_console.pages.job_team_form import (
    COORDINATOR,
    PARTS,
    Made,
    field_of,
    made_of,
    rows_in,
    typed_in,
    typed_of,
)
from runs.domain.strict_json import JsonRefused, parse
from runs.limits import limits
from verification.domain.errors import VerificationError
from verification.domain.jobs.given import GIVEN
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.states import Operation

Typed = Mapping[str, str]


def view(request: HttpRequest, operation: Operation) -> HttpResponse:
    """Show the form, or start the job and go to its page."""
    if request.method == "GET":
        beginning = beginning_of(request, operation)
        if beginning.get("operation") == operation:
            return again(request, beginning)
        return _page(request, operation, typed_in({}))
    move = request.POST.get("move", "")
    typed = typed_in(request.POST.dict(), move.removeprefix("add-"))
    if move.startswith("add-"):
        return _page(request, operation, typed)
    made = Made({}, dict.fromkeys(PARTS, ()))
    try:
        made = made_of(typed, operation)
        if move == JSON:
            return _json_page(request, _text(made.document))
        return started(request, made.document)
    except VerificationError as refused:
        return _page(request, operation, typed, [_error(refused, typed, made)])


def again(request: HttpRequest, document: Mapping[str, Any]) -> HttpResponse:
    """Show a request in its form, or as JSON where the form has no room for all it says."""
    typed = typed_of(document)
    if typed is None:
        return _json_page(request, _text(document))
    return _page(request, Operation(document["operation"]), typed)


def view_json(request: HttpRequest) -> HttpResponse:
    """Show the field for JSON, or start the job that it asks for."""
    if request.method == "GET":
        beginning = beginning_of(request, Operation.TEAM)
        return _json_page(request, _text(beginning or EXAMPLES[Operation.TEAM]))
    text = request.POST.get("json", "")
    try:
        document = parse(text.encode("utf-8", "surrogatepass"), max_depth=limits().depth)
    except JsonRefused as refused:
        sentence = "This is not JSON that can be read in one way only."
        return _json_page(request, text, [_at_json(refused.pointer, sentence)])
    try:
        return started(request, document if isinstance(document, dict) else {})
    except VerificationError as refused:
        pointer = refused.pointer if isinstance(refused, JobRefused) else ""
        return _json_page(request, text, [_at_json(pointer, str(refused))])


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def _at_json(pointer: str, sentence: str) -> dict[str, str]:
    return {"field": "json", "label": pointer, "sentence": sentence}


def _json_page(
    request: HttpRequest, text: str, errors: Sequence[Mapping[str, str]] = ()
) -> HttpResponse:
    context = {"json": text, **frame(request, JSON, errors)}
    status = 400 if errors else 200
    return render(request, "verification/job_new_json.html", context, status=status)


def _error(refused: VerificationError, typed: Typed, made: Made) -> dict[str, str]:
    rows = {kind: made.rows[kind] or _filled(typed, kind) for kind in PARTS}
    pointer = refused.pointer if isinstance(refused, JobRefused) else ""
    field, label = field_of(pointer, rows)
    return {"field": field, "label": label, "sentence": str(refused)}


def _filled(typed: Typed, kind: str) -> list[int]:
    rows = rows_in(typed, kind)
    return [row["number"] for row in rows if any(row[part] for part in PARTS[kind])]


def _page(
    request: HttpRequest,
    operation: Operation,
    typed: Typed,
    errors: Sequence[Mapping[str, str]] = (),
) -> HttpResponse:
    context = {
        **frame(request, operation, errors),
        "is_team": operation is Operation.TEAM,
        "given": typed,
        "members": _rows(typed, "member", errors),
        "judges": _rows(typed, "judge", errors),
        "tasks": _rows(typed, "task", errors),
        "coordinator": {part: typed[f"coordinator-{part}"] for part in COORDINATOR},
        "given_model": GIVEN,
    }
    status = 400 if errors else 200
    return render(request, "verification/job_new_team.html", context, status=status)


def _rows(typed: Typed, kind: str, errors: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    at_fault = {error["field"] for error in errors}
    return [
        {**row, "wrong": [p for p in PARTS[kind] if f"{kind}-{row['number']}-{p}" in at_fault]}
        for row in rows_in(typed, kind)
    ]
