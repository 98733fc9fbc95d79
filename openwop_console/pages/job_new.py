"""The form that starts a consensus. What it sends is the API's own document, read by its rules."""

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from openwop_console.pages import job_new_team
from openwop_console.pages.job_new_frame import JSON, beginning_of, frame, started
from openwop_console.pages.typed_values import json_value, rule_settings, rule_text, whole
from verification.domain.errors import VerificationError
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.states import Operation

ROWS = 5
"""Judges that the form has room for; the API takes more."""
_TEXTS = ("prompt", "answer", "judgePrompt", "runId", "target", "host", "workspace")
_WORDS = ("mode", "onDissent")
_NUMBERS = ("quorum", "maxRounds", "maxTokenBudget")


@require_http_methods(["GET", "POST"])
def view(request: HttpRequest) -> HttpResponse:
    """Show the form of a kind of job, or start the job and go to its page."""
    said = request.POST if request.method == "POST" else request.GET
    kind = said.get("operation", "")
    if kind in (Operation.TASKS, Operation.TEAM):
        return job_new_team.view(request, Operation(kind))
    return job_new_team.view_json(request) if kind == JSON else _consensus(request)


def _consensus(request: HttpRequest) -> HttpResponse:
    if request.method == "GET":
        beginning = beginning_of(request, Operation.CONSENSUS)
        if beginning.get("operation", Operation.CONSENSUS) != Operation.CONSENSUS:
            return job_new_team.again(request, beginning)
        return _page(request, beginning, ())
    try:
        return started(request, _document(request.POST))
    except VerificationError as refused:
        pointer = refused.pointer if isinstance(refused, JobRefused) else ""
        return _page(request, _given(request.POST), [_error(pointer, str(refused))])


def _page(request: HttpRequest, shown: Mapping[str, Any], errors: Any) -> HttpResponse:
    context = {
        "given": shown,
        "rows": _rows(shown),
        "proposer": _proposer(shown),
        "criteria": ", ".join(shown.get("criteria", [])),
        "schema": _as_text(shown.get("verdictSchema")),
        **frame(request, Operation.CONSENSUS, errors),
    }
    return render(request, "verification/job_new.html", context, status=400 if errors else 200)


def _rows(shown: Mapping[str, Any]) -> list[dict[str, Any]]:
    known = [
        {
            "name": judge.get("name", ""),
            "model": judge.get("model", ""),
            "settings": rule_text(judge.get("model", ""), judge.get("settings")),
        }
        for judge in shown.get("judges", [])
    ]
    blank = {"name": "", "model": "", "settings": ""}
    padded = known + [blank] * max(0, ROWS - len(known))
    return [{**each, "number": number} for number, each in enumerate(padded)]


def _proposer(shown: Mapping[str, Any]) -> Mapping[str, Any]:
    given = shown.get("proposer") or {}
    first = given[0] if isinstance(given, list) and given else given
    return first if isinstance(first, Mapping) else {}


def _as_text(value: object) -> str:
    if value is None or value == {}:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _given(sent: QueryDict) -> dict[str, Any]:
    """Return what was typed, to be shown again as it was."""
    rows = [_typed_judge(sent, number) for number in range(ROWS)]
    return {
        **{name: sent.get(name, "") for name in (*_TEXTS, *_WORDS, *_NUMBERS)},
        "judges": rows,
        "proposer": {"name": sent.get("proposerName", ""), "model": sent.get("proposerModel", "")},
        "criteria": [each.strip() for each in sent.get("criteria", "").split(",") if each.strip()],
        "verdictSchema": sent.get("verdictSchema", ""),
    }


def _typed_judge(sent: QueryDict, number: int) -> dict[str, str]:
    parts = ("name", "model", "settings")
    return {part: sent.get(f"judge-{number}-{part}", "").strip() for part in parts}


def _document(sent: QueryDict) -> dict[str, Any]:
    """Return the document that the typed form stands for. Raises JobRefused."""
    typed = _given(sent)
    document: dict[str, Any] = {
        name: typed[name].replace("\r\n", "\n")
        for name in (*_TEXTS, *_WORDS)
        if typed[name].strip()
    }
    document |= {name: whole(typed[name], f"/{name}") for name in _NUMBERS if typed[name].strip()}
    rows = enumerate(typed["judges"])
    document["judges"] = [_judge(row, n) for n, row in rows if row["name"] or row["model"]]
    if typed["proposer"]["model"]:
        name = typed["proposer"]["name"].strip() or "proposer"
        document["proposer"] = {"name": name, "model": typed["proposer"]["model"]}
    if typed["criteria"]:
        document["criteria"] = typed["criteria"]
    if typed["verdictSchema"].strip():
        document["verdictSchema"] = json_value(typed["verdictSchema"], "/verdictSchema")
    return document


def _judge(row: Mapping[str, str], number: int) -> dict[str, Any]:
    judge: dict[str, Any] = {"name": row["name"], "model": row["model"]}
    if row["settings"]:
        where = f"/judges/{number}/settings"
        judge["settings"] = rule_settings(row["model"], row["settings"], where)
    return judge


_LABELS = {
    "prompt": "Question", "answer": "Answer", "judges": "Judges", "proposer": "Proposer",
    "quorum": "Quorum", "maxRounds": "Rounds", "maxTokenBudget": "Token budget",
    "criteria": "Criteria", "judgePrompt": "Instruction to judges", "runId": "Run",
    "verdictSchema": "Verdict schema", "target": "Target", "workspace": "Workspace",
    "onDissent": "On dissent", "host": "Host",
}  # fmt: skip


def _error(pointer: str, sentence: str) -> dict[str, str]:
    parts = pointer.strip("/").split("/")
    label = _LABELS.get(parts[0], "")
    if parts[0] == "judges" and len(parts) > 1 and parts[1].isdigit():
        part = parts[2] if len(parts) > 2 else "settings"
        return {
            "field": f"judge-{parts[1]}-{part}",
            "label": f"Judge {int(parts[1]) + 1}",
            "sentence": sentence,
        }
    return {"field": parts[0] or "prompt", "label": label, "sentence": sentence}
