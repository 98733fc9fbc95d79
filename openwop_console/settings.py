"""Every knob of the Console, each read from the environment.

`docs/settings.md` says what each variable does and a test keeps the two together. One file serves
development, tests and production: what differs between them is the environment alone.
"""

from pathlib import Path
from typing import Any

import plotly
from csp.constants import NONE, SELF
from kombu import Queue
from psycopg.conninfo import conninfo_to_dict

from openwop_console.environment import flag, number, seed, text, words

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(text("DATA_DIR", str(BASE_DIR / "var"))).resolve()

DEBUG = flag("DEBUG", default=False)
SECRET_KEY = text("SECRET_KEY", "only-for-checks-and-tests-" + "0" * 40)
ENCRYPTION_KEY = text("OPENWOP_CONSOLE_ENCRYPTION_KEY")
"""Fernet key (urlsafe base64, 32 bytes) that seals host credentials at rest."""

CONSOLE_URL = text("OPENWOP_CONSOLE_URL", "http://127.0.0.1:8000").rstrip("/")
METRICS_TOKEN = text("OPENWOP_CONSOLE_METRICS_TOKEN", least=24)
"""What `/metrics` is asked with; empty: there is no such address."""
ALLOWED_HOSTS = words("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = words("CSRF_TRUSTED_ORIGINS")

# --- Assembly ---------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "template_partials",
    "csp",
    "axes",
    "runs",
    "verification",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "openwop_console.hosting_v2.HostingV2",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "openwop_console.urls"
ASGI_APPLICATION = "openwop_console.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "openwop_console.frame.frame",
            ],
        },
    },
]

# --- PostgreSQL -------------------------------------------------------------------------------


def _database(url: str) -> dict[str, Any]:
    """Translate a libpq URL into Django's dictionary; parameters it does not know are passed on."""
    given = conninfo_to_dict(url)
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST"}
    known = {django: str(given.pop(libpq, "") or "") for libpq, django in names.items()}
    # While PostgreSQL is away an answer comes soon, and once it is back the next request finds it.
    pool = {
        "min_size": 1,
        "max_size": number("DATABASE_POOL_SIZE", 24, least=2),
        "timeout": 3,
        "reconnect_timeout": 1,
    }
    return {
        "ENGINE": "django.db.backends.postgresql",
        **known,
        "PORT": str(given.pop("port", "") or ""),
        "OPTIONS": {"pool": pool, "prepare_threshold": 0, **given},
        "CONN_HEALTH_CHECKS": True,
    }


DATABASES = {
    "default": _database(text("DATABASE_URL", "postgresql://openwop@127.0.0.1:5432/openwop"))
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Redis: bells and the task broker, never a record ----------------------------------------

REDIS_URL = text("REDIS_URL", "redis://127.0.0.1:6379/0")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "owc"},
    },
}

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # A killed worker's messages come back after the timeout; without the two restore options the
    # broker looks for them only every 100 s.
    "visibility_timeout": number("TASK_VISIBILITY_TIMEOUT_S", 120, least=5),
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    # A web request must not hang on a broker that is away: the sweep rings again.
    "socket_connect_timeout": 2,
    "socket_timeout": 10,
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_QUEUES = [Queue("default"), Queue("jobs"), Queue("pull")]
CELERY_TASK_DEFAULT_QUEUE = "default"
SWEEP_INTERVAL_S = number("OPENWOP_CONSOLE_SWEEP_INTERVAL_S", 4, least=1)
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "verification.tasks.sweep",
        "schedule": SWEEP_INTERVAL_S,
        "options": {"expires": SWEEP_INTERVAL_S},
    },
}

# --- People -----------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "runs"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = number("LOGIN_ATTEMPTS", 10, least=1)
AXES_COOLOFF_TIME = 0.25  # hours; a lock that never opens is a way to lock others out
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_ENABLE_ACCESS_FAILURE_LOG = False

# --- Browser ----------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
BEHIND_TLS = flag("BEHIND_TLS", default=CONSOLE_URL.startswith("https://"))
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_SSL_REDIRECT = BEHIND_TLS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = BEHIND_TLS

STATIC_URL = "/static/"
STATIC_ROOT = text("STATIC_ROOT") or None  # set: `collectstatic` has put everything there
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("plotly", Path(plotly.__file__).parent / "package_data"),
]
# Their sources may change under a running process, by an upgrade in place: they are looked at anew.
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = STATIC_ROOT is None
WHITENOISE_MAX_AGE = 60  # their names stay the same: no page wears old styles for longer

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

# --- API --------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "verification.auth.PersonalTokenAuthentication",
        "runs.auth.HostKeyAuthentication",
        "verification.auth.PersonAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "openwop_console.errors.AlwaysJson",
    "EXCEPTION_HANDLER": "openwop_console.errors.answer",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "OpenWOP Console",
    "DESCRIPTION": "Send run events, read runs and gates, work the reviewer queue.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": ["openwop_console.openapi.complete"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
}

# --- Limits; served at /api/v1/limits ---------------------------------------------------------

MAX_BODY_BYTES = number("OPENWOP_CONSOLE_MAX_BODY_BYTES", 5 * 1024 * 1024, least=1024)
MAX_WEBHOOK_BYTES = number("OPENWOP_CONSOLE_MAX_WEBHOOK_BYTES", 1024 * 1024, least=1024)
MAX_BATCH_EVENTS = number("OPENWOP_CONSOLE_MAX_BATCH_EVENTS", 1000, least=1)
MAX_PAYLOAD_BYTES = number("OPENWOP_CONSOLE_MAX_PAYLOAD_BYTES", 256 * 1024, least=1024)
MAX_DEPTH = number("OPENWOP_CONSOLE_MAX_DEPTH", 64, least=8)
MAX_HEADER_BYTES = number("OPENWOP_CONSOLE_MAX_HEADER_BYTES", 64 * 1024, least=8192)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 4_000  # the form of a plan has fifteen for each of 100 tasks

# Each web process counts for itself: what is in force is at most this times the processes.
RATE_KEY_REQUESTS = number("OPENWOP_CONSOLE_RATE_KEY_REQUESTS", 1_000, least=1)
RATE_KEY_EVENTS = number("OPENWOP_CONSOLE_RATE_KEY_EVENTS", 25_000, least=1)
RATE_HOST_REQUESTS = number("OPENWOP_CONSOLE_RATE_HOST_REQUESTS", 2_000, least=1)
RATE_HOST_EVENTS = number("OPENWOP_CONSOLE_RATE_HOST_EVENTS", 50_000, least=1)
RATE_BURST_S = number("OPENWOP_CONSOLE_RATE_BURST_S", 5, least=1)
INGEST_THREADS = number("OPENWOP_CONSOLE_INGEST_THREADS", 8, least=1)
"""Requests with events that a web process works on at once, each with its own connection."""
HOST_CONCURRENCY = number("OPENWOP_CONSOLE_HOST_CONCURRENCY", 4, least=1)
"""How many of them may be one host's, so that the others always find a thread."""
HOST_WAITING_BYTES = number(
    "OPENWOP_CONSOLE_HOST_WAITING_BYTES", 32 * 1024 * 1024, least=MAX_BODY_BYTES
)
"""Bodies of one host that may wait for their turn."""
BODY_DEADLINE_S = number("OPENWOP_CONSOLE_BODY_DEADLINE_S", 20, least=1)
"""Seconds in which a body must have arrived."""

# --- Hosts: what they deliver, and what is read from them ----------------------------------------

PULL = flag("OPENWOP_CONSOLE_PULL", default=True)
"""Whether hosts that have an address are read: their runs, gaps, and what webhooks left out."""
PULL_DISCOVER_S = number("OPENWOP_CONSOLE_PULL_DISCOVER_S", 60, least=1)
"""Seconds between two looks at what a host can do and which runs it has."""
PULL_SILENT_S = number("OPENWOP_CONSOLE_PULL_SILENT_S", 60, least=1)
"""Seconds without an event after which a run that goes on is asked after."""
PULL_GAP_S = number("OPENWOP_CONSOLE_PULL_GAP_S", 5, least=0)
"""Seconds in which late events may still close a gap by themselves."""
PULL_IDLE_MAX_S = number("OPENWOP_CONSOLE_PULL_IDLE_MAX_S", 300, least=1)
"""Longest wait between two looks at a run of which there is nothing new."""
PULL_BACKOFF_MAX_S = number("OPENWOP_CONSOLE_PULL_BACKOFF_MAX_S", 900, least=1)
"""Longest rest of a host that is in trouble."""
PULL_DEADLINE_S = number("OPENWOP_CONSOLE_PULL_DEADLINE_S", 10, least=1)
"""Seconds for one call, from its name to its last byte."""
PULL_TAIL_S = number("OPENWOP_CONSOLE_PULL_TAIL_S", 20, least=1)
"""Seconds for which one look follows a run that goes on."""
PULL_MAX_BYTES = number("OPENWOP_CONSOLE_PULL_MAX_BYTES", 8 * 1024 * 1024, least=64 * 1024)
"""Bytes of one answer of a host."""
PULL_THREADS = number("OPENWOP_CONSOLE_PULL_THREADS", 8, least=1)
"""Things read at once in a round; a round takes one process of one worker."""
PULL_PER_HOST = number("OPENWOP_CONSOLE_PULL_PER_HOST", 4, least=1)
"""Runs of one host read at once."""
PULL_ROUNDS = number("OPENWOP_CONSOLE_PULL_ROUNDS", 1, least=1)
"""Rounds at once, over all workers."""
PULL_ROUND_S = number("OPENWOP_CONSOLE_PULL_ROUND_S", 40, least=1)
"""Seconds after which a round begins nothing more."""
DELIVERY_DAYS = number("OPENWOP_CONSOLE_DELIVERY_DAYS", 30, least=1)
"""Days for which evidence of webhook deliveries is kept."""
CELERY_TASK_ROUTES = {
    "runs.tasks.pull": {"queue": "pull"},
    "verification.tasks.run_job": {"queue": "jobs"},
    "verification.tasks.export": {"queue": "pull"},
    "verification.tasks.test_connection": {"queue": "pull"},
}
CELERY_BEAT_SCHEDULE["sweep-hosts"] = {
    "task": "runs.tasks.sweep",
    "schedule": SWEEP_INTERVAL_S,
    "options": {"expires": SWEEP_INTERVAL_S},
}

# --- Review -----------------------------------------------------------------------------------

CLAIM_TTL_S = number("OPENWOP_CONSOLE_CLAIM_TTL_S", 600, least=30)
REVIEW_DUE_S = number("OPENWOP_CONSOLE_REVIEW_DUE_S", 24 * 3600, least=60)
UNDO_S = number("OPENWOP_CONSOLE_UNDO_S", 5)
ALLOW_PRIVATE = words("OPENWOP_CONSOLE_ALLOW_PRIVATE")
"""Private address ranges that decisions may be delivered to, such as `127.0.0.0/8`."""
STALLED_AFTER_S = number("OPENWOP_CONSOLE_STALLED_AFTER_S", 900, least=10)
CONSOLE_UUID = text("OPENWOP_CONSOLE_UUID", "5a0c7c0e-7f0b-4f4e-9f39-0d5b1f1f4f00")
"""Names this Console in the opaque ids by which hosts know who decided."""
CONTENT_DAYS = number("OPENWOP_CONSOLE_CONTENT_DAYS", 90, least=1)
RUN_DAYS = number("OPENWOP_CONSOLE_RUN_DAYS", 0)
"""Days without an event after which a run is erased; 0: never."""
CONTENT_LINK = text("OPENWOP_CONSOLE_CONTENT_LINK")
"""Address with {runId} and {artifactId} where people see content; empty: fetched for them."""
CHECKPOINT_ENTRIES = number("OPENWOP_CONSOLE_CHECKPOINT_ENTRIES", 100, least=1)
"""Audit entries after which a checkpoint is signed, if a minute does not pass before."""

# --- Mail: how people are told of things, where they wish it ------------------------------------

EMAIL_HOST = text("EMAIL_HOST")
EMAIL_PORT = number("EMAIL_PORT", 587, least=1)
EMAIL_HOST_USER = text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = flag("EMAIL_USE_TLS", default=True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = text("EMAIL_FROM", "openwop-console@localhost")

# --- Gates ------------------------------------------------------------------------------------

GATE_ANSWER_S = number("OPENWOP_CONSOLE_GATE_ANSWER_S", 60, least=1)
"""How long an answer of the gate API may be relied on."""
SIGNING_KEY = seed("OPENWOP_CONSOLE_SIGNING_KEY")
"""Base64 of the 32-byte Ed25519 seed that evidence is signed with; empty: made once and kept."""

# --- Consensus jobs ---------------------------------------------------------------------------

MODELS = words("OPENWOP_CONSOLE_MODELS")
"""Models that jobs may name: `openai:…`, `anthropic:…`, `compatible:…`; the admin adds others."""
OPENAI_KEY = text("OPENWOP_CONSOLE_OPENAI_KEY")
ANTHROPIC_KEY = text("OPENWOP_CONSOLE_ANTHROPIC_KEY")
COMPATIBLE_URL = text("OPENWOP_CONSOLE_COMPATIBLE_URL")
COMPATIBLE_KEY = text("OPENWOP_CONSOLE_COMPATIBLE_KEY")
MODEL_CALLS = number("OPENWOP_CONSOLE_MODEL_CALLS", 4, least=1)
MODEL_TIMEOUT_S = number("OPENWOP_CONSOLE_MODEL_TIMEOUT_S", 120, least=1)
MODEL_ATTEMPTS = number("OPENWOP_CONSOLE_MODEL_ATTEMPTS", 3, least=1)
MODEL_REPLY_TOKENS = number("OPENWOP_CONSOLE_MODEL_REPLY_TOKENS", 2048, least=64)
JOB_LEASE_S = number("OPENWOP_CONSOLE_JOB_LEASE_S", 30, least=2)
JOB_DEADLINE_S = number("OPENWOP_CONSOLE_JOB_DEADLINE_S", 900, least=1)
TASKS_AT_ONCE = number("OPENWOP_CONSOLE_TASKS_AT_ONCE", 4, least=1)
"""Tasks of one job that workers are on at the same time, where they do not depend on each other."""
DAILY_TOKENS = number("OPENWOP_CONSOLE_DAILY_TOKENS", 0)
"""What the jobs of a workspace may spend in a day; 0: no limit."""

_OTLP = text("OTEL_EXPORTER_OTLP_ENDPOINT").rstrip("/")
OTLP_TRACES = text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", _OTLP and f"{_OTLP}/v1/traces")
"""Where the spans of jobs are sent; empty: nowhere. The exporter reads other OTEL_ variables."""
HOST_SURFACE = flag("OPENWOP_CONSOLE_HOST_SURFACE", default=False)
"""Whether OpenWOP clients may read and answer the Console's own runs as those of a host."""

# --- Logs: one line each, ids only --------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "openwop_console.logs.Line",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        # What these say at INFO is noise, or says more than ids.
        **{name: {"level": "WARNING"} for name in ("axes", "httpx", "httpx2", "httpcore")},
        # What anybody may cause by any request is no news.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # Uvicorn brings formatters of its own, which quote exceptions.
        **{name: {"handlers": [], "propagate": True} for name in ("uvicorn", "uvicorn.error")},
        # A line for each request is a tenth of what a small one costs. That the web process turned
        # it off is forgotten when the logger above it is set.
        "uvicorn.access": {"handlers": [], "propagate": False},
    },
    "root": {"handlers": ["stderr"], "level": text("LOG_LEVEL", "INFO")},
}
