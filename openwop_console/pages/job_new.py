"""The form that starts a job. What it sends is the API's own document, read by the same rules."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from runs.models import Viewer, Workspace, workspaces_of
from verification import endpoints
from verification.actions import jobs
from verification.actions.askers import asker_of
from verification.domain.errors import VerificationError
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.request import read_request
from verification.job_ledger import document_of
from verification.jobs_api import find_job, run_asked_about

ROWS = 5
"""Judges that the form has room for; the API takes more."""
RULES = (
    ("rule:must-match", "Rule: must contain", '{"pattern": "…"}'),
    ("rule:must-not-match", "Rule: must not contain", '{"pattern": "…"}'),
    ("rule:required-citations", "Rule: cites sources", '{"minimum": 1}'),
    ("rule:length", "Rule: length", '{"minimum": 20, "unit": "words"}'),
    ("rule:json-schema", "Rule: is JSON of a form", '{"schema": {"type": "object"}}'),
)
EXAMPLE = {
    "prompt": "In which year was the first transatlantic telegraph message sent, and by whom?",
    "answer": "It was sent in 1858, by Queen Victoria to President Buchanan [1].\n\n"
    "[1] https://www.example.org/atlantic-cable",
    "judges": [
        {"name": "sources", "model": "rule:required-citations", "settings": {"minimum": 1}},
        {"name": "year", "model": "rule:must-match", "settings": {"pattern": "\\b18[0-9]{2}\\b"}},
        {"name": "hedging", "model": "rule:must-not-match",
         "settings": {"pattern": "(?i)\\b(maybe|probably|I think)\\b"}},
    ],
    "quorum": 2,
}  # fmt: skip
_TEXTS = ("prompt", "answer", "judgePrompt", "runId", "target", "host", "workspace")
_WORDS = ("mode", "onDissent")
_NUMBERS = ("quorum", "maxRounds", "maxTokenBudget")


@require_http_methods(["GET", "POST"])
def view(request: HttpRequest) -> HttpResponse:
    """Show the form, or start the job and go to its page."""
    if request.method == "GET":
        return _page(request, _beginning(request), ())
    given = _given(request.POST)
    try:
        document = _document(request.POST)
        asked = read_request(document)
        about = run_asked_about(request.user, asked)
        asker = asker_of(request.user, workspace=asked.workspace, about=about)
        started = jobs.start(
            request=asked,
            asker=asker,
            about=about,
            idempotency_key=request.POST.get("once", "")[:128],
        )
    except Http404:
        return _page(request, given, [_error("/runId", "You see no run of this id.")])
    except JobRefused as refused:
        return _page(request, given, [_error(refused.pointer, str(refused))])
    except VerificationError as refused:
        return _page(request, given, [_error("", str(refused))])
    return redirect("job", started.job.uid)


def _beginning(request: HttpRequest) -> Mapping[str, Any]:
    """Return what the form starts with: an earlier job's request, the example, or nothing."""
    if "example" in request.GET:
        return EXAMPLE
    try:
        return document_of(find_job(request.user, UUID(request.GET.get("from", ""))))
    except (ValueError, Http404, VerificationError):
        return {name: request.GET[name] for name in ("runId", "target") if name in request.GET}


def _page(request: HttpRequest, shown: Mapping[str, Any], errors: Any) -> HttpResponse:
    models = endpoints.catalogue()
    context = {
        "given": shown,
        "rows": _rows(shown),
        "proposer": _proposer(shown),
        "criteria": ", ".join(shown.get("criteria", [])),
        "schema": _as_text(shown.get("verdictSchema")),
        "models": models,
        "rules": [(name, label) for name, label, _ in RULES],
        "rule_hints": RULES,
        "errors": errors,
        "at_fault": {error["field"] for error in errors},
        "workspaces": _workspaces(request.user),
        "urls": {"list": reverse("jobs"), "example": f"{reverse('job-new')}?example=1"},
        "once": request.POST.get("once") or _once(),
    }
    return render(request, "verification/job_new.html", context, status=400 if errors else 200)


def _once() -> str:
    """Return a key by which a form that is sent twice starts one job."""
    return str(uuid4())


def _rows(shown: Mapping[str, Any]) -> list[dict[str, Any]]:
    known = [
        {
            "name": judge.get("name", ""),
            "model": judge.get("model", ""),
            "settings": _as_text(judge.get("settings")),
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


def _workspaces(viewer: Viewer) -> list[str]:
    """Return the viewer's workspaces, where they have to say which."""
    slugs = Workspace.objects.filter(pk__in=workspaces_of(viewer)).values_list("slug", flat=True)
    return sorted(slugs) if len(slugs) > 1 else []


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
    document |= {name: _number(typed[name], name) for name in _NUMBERS if typed[name].strip()}
    rows = enumerate(typed["judges"])
    document["judges"] = [_judge(row, n) for n, row in rows if row["name"] or row["model"]]
    if typed["proposer"]["model"]:
        name = typed["proposer"]["name"].strip() or "proposer"
        document["proposer"] = {"name": name, "model": typed["proposer"]["model"]}
    if typed["criteria"]:
        document["criteria"] = typed["criteria"]
    if typed["verdictSchema"].strip():
        document["verdictSchema"] = _json(typed["verdictSchema"], "/verdictSchema")
    return document


def _judge(row: Mapping[str, str], number: int) -> dict[str, Any]:
    judge: dict[str, Any] = {"name": row["name"], "model": row["model"]}
    if row["settings"]:
        judge["settings"] = _json(row["settings"], f"/judges/{number}/settings")
    return judge


def _number(text: str, name: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise JobRefused("type", f"/{name}", "A whole number is expected here.")
    return int(text)


def _json(text: str, pointer: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise JobRefused("json", pointer, "This is not JSON.") from error


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
