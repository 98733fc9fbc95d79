"""Every address of the Console."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import RedirectView

from openwop_console import frame, health, metrics, openapi, styleguide
from openwop_console.error_pages import api_not_found
from openwop_console.pages import (
    analytics,
    downloads,
    escalation,
    finding,
    findings,
    host,
    hosts,
    job,
    job_moves,
    job_new,
    job_plan,
    jobs,
    queue,
    run,
    run_list,
    sockets,
)
from openwop_console.review_urls import urlpatterns as review_pages
from runs.urls import urlpatterns as runs_api
from verification.urls import hosting_v1
from verification.urls import urlpatterns as verification_api

# Longer addresses first: a run id may hold anything, `/gates` included.
api = [
    *verification_api,
    *runs_api,
    path("openapi.json", openapi.document, name="openapi"),
    path("<path:rest>", csrf_exempt(login_not_required(api_not_found))),
]

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="runs"), name="home"),
    *review_pages,
    path("runs", run_list.view, name="runs"),
    path("runs/export", downloads.runs, name="runs-export"),
    path("runs/<slug:host>/<run:run>/export", downloads.run, name="run-export"),
    path("runs/<slug:host>/<run:run>/lines/<int:position>", run.line, name="line"),
    path("runs/<slug:host>/<run:run>", run.view, name="run"),
    path("queue", queue.view, name="queue"),
    path("queue/next", queue.claim_next, name="claim-next"),
    path("queue/<int:pk>", escalation.view, name="escalation"),
    path("queue/<int:pk>/<str:move>", escalation.act, name="escalation-act"),
    path("findings", findings.view, name="findings"),
    path("findings/unverified", findings.unverified, name="unverified"),
    path("findings/<int:pk>", finding.view, name="finding"),
    path("jobs", jobs.view, name="jobs"),
    path("jobs/new", job_new.view, name="job-new"),
    path("jobs/<uuid:uid>", job.view, name="job"),
    path("jobs/<uuid:uid>/cancel", job_moves.cancel, name="job-cancel"),
    path("jobs/<uuid:uid>/review", job_moves.review, name="job-review"),
    path("jobs/<uuid:uid>/plan", job_plan.view, name="job-plan"),
    path("jobs/<uuid:uid>/again", job_moves.again, name="job-again"),
    path("api/v1/", include((api, "api"))),
    path("", include((hosting_v1, "hosting"))),
    path("v1/<path:rest>", csrf_exempt(login_not_required(api_not_found))),
    path("api/docs", openapi.page, name="docs"),
    path("settings/hosts", hosts.view, name="settings-hosts"),
    path("settings/hosts/new", hosts.new, name="settings-host-new"),
    path("settings/hosts/<slug:slug>", host.view, name="settings-host"),
    path("analytics", analytics.view, name="analytics"),
    path("analytics/<slug:name>/export", downloads.figure, name="figure-export"),
    path("styleguide", styleguide.view, name="styleguide"),
    path("login", frame.Login.as_view(), name="login"),
    path("logout", auth.LogoutView.as_view(), name="logout"),
    path("theme", frame.theme, name="theme"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.view, name="metrics"),
    path("admin/", admin.site.urls),
]

handler400 = "openwop_console.error_pages.bad_request"
handler403 = "openwop_console.error_pages.forbidden"
handler404 = "openwop_console.error_pages.not_found"
handler500 = "openwop_console.error_pages.failed"

sockets_urlpatterns = [
    path("ws/", sockets.PageConsumer.as_asgi()),
    path("ws/runs/", sockets.RunListConsumer.as_asgi()),
    path("ws/runs/<slug:host>/<run:run>/", sockets.RunConsumer.as_asgi()),
    path("ws/findings/", sockets.FindingsConsumer.as_asgi()),
    path("ws/findings/<int:pk>/", sockets.FindingConsumer.as_asgi()),
    path("ws/jobs/", sockets.JobListConsumer.as_asgi()),
    path("ws/jobs/<uuid:uid>/", sockets.JobConsumer.as_asgi()),
    path("ws/jobs/<uuid:uid>/plan/", sockets.PlanConsumer.as_asgi()),
    path("ws/settings/hosts/<slug:slug>/", sockets.HostConsumer.as_asgi()),
    path("ws/queue/", sockets.QueueConsumer.as_asgi()),
    path("ws/queue/many/<int:batch>/", sockets.BatchConsumer.as_asgi()),
    path("ws/queue/<int:pk>/", sockets.EscalationConsumer.as_asgi()),
    re_path("", sockets.NoPageConsumer.as_asgi()),
]
