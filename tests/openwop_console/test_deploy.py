"""What is deployed by hand stays in step with the code."""

import re
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load((PROJECT / "docker-compose.yml").read_text())["services"]


def test_compose_runs_each_part_on_its_own(services):
    ours = {"migrate", "web", "worker", "slow-worker", "beat"}
    assert set(services) == {"postgres", "redis", *ours}


def test_the_workers_of_compose_take_every_queue_between_them(services, settings):
    taken = {
        queue
        for name in ("worker", "slow-worker")
        for queue in services[name]["command"][
            services[name]["command"].index("--queues") + 1
        ].split(",")
    }
    assert taken == {queue.name for queue in settings.CELERY_TASK_QUEUES}


def test_nothing_starts_on_tables_that_are_not_migrated(services):
    for name in ("web", "worker", "slow-worker", "beat"):
        condition = services[name]["depends_on"]["migrate"]["condition"]
        assert condition == "service_completed_successfully"
    assert services["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"


def test_every_long_lived_part_is_asked_how_it_is(services):
    image_asks = "HEALTHCHECK" in (PROJECT / "Dockerfile").read_text()
    for name in ("postgres", "redis", "worker", "slow-worker", "beat"):
        assert services[name]["healthcheck"]["test"]
    assert image_asks
    assert "healthcheck" not in services["web"]


def test_no_part_of_compose_writes_logs_without_end(services):
    for name, service in services.items():
        assert service["logging"]["options"].keys() >= {"max-size", "max-file"}, name


def test_every_variable_that_compose_wants_is_in_the_example():
    wanted = set(re.findall(r"(?<!\$)\$\{(\w+)", (PROJECT / "docker-compose.yml").read_text()))
    example = (PROJECT / ".env.example").read_text()

    assert {name for name in wanted if not re.search(rf"^#?{name}=", example, re.MULTILINE)} <= {
        "TAG"
    }


def test_every_variable_that_the_settings_read_is_in_the_example():
    reads = re.compile(r"\b(?:text|number|flag|words)\(\s*\"([A-Z][A-Z0-9_]+)\"")
    code = "".join(path.read_text() for path in (PROJECT / "openwop_console").glob("*.py"))
    example = (PROJECT / ".env.example").read_text()

    missing = {name for name in reads.findall(code) if f"{name}=" not in example}

    assert not missing


def test_makefile_and_image_pin_the_same_uv():
    pins = {
        re.search(r"UV_VERSION := (\S+)", (PROJECT / "Makefile").read_text()),
        re.search(r"uv==(\S+)", (PROJECT / "Dockerfile").read_text()),
    }

    assert len({pin[1] for pin in pins if pin}) == 1


def test_the_secrets_of_the_example_are_empty():
    example = (PROJECT / ".env.example").read_text()

    for name in ("SECRET_KEY", "OPENWOP_CONSOLE_ENCRYPTION_KEY", "POSTGRES_PASSWORD"):
        assert f"\n{name}=\n" in example
