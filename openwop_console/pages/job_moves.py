"""What people do with a job on its page: cancel it, run it again, send it to a person."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from verification.actions import jobs
from verification.actions.askers import asker_of, canceller_of
from verification.actions.job_reviews import send_to_person
from verification.domain.errors import VerificationError
from verification.domain.jobs.requests import read_any
from verification.job_ledger import document_of
from verification.jobs_api import find_job


@require_POST
def cancel(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Ask that the job be stopped."""
    job = find_job(request.user, uid)
    try:
        jobs.cancel(job=job.pk, by=canceller_of(request.user, job))
    except VerificationError as refused:
        messages.error(request, str(refused))
    return redirect("job", uid)


@require_POST
def review(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Have a person look at what the judges accepted."""
    job = find_job(request.user, uid)
    try:
        found = send_to_person(job=job, by=canceller_of(request.user, job))
    except VerificationError as refused:
        messages.error(request, str(refused))
        return redirect("job", uid)
    return redirect("escalation", found.pk)


@require_POST
def again(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Start a new job on the same request; the old one stays as it is."""
    job = find_job(request.user, uid)
    try:
        asked = read_any(document_of(job))
        asker = asker_of(request.user, workspace=job.workspace.slug, about=job.about_run)
        started = jobs.start(request=asked, asker=asker, about=job.about_run)
    except VerificationError as refused:
        messages.error(request, f"No new job was started. {refused}")
        return redirect("job", uid)
    messages.success(request, "This is a new job on the same request.")
    return redirect("job", started.job.uid)
