"""Models for jobs: a real HTTP server that says what the test tells it."""

from collections.abc import Iterator

import pytest

from tests.model_server import ModelServer, accepts, model_server, says

NAMES = ("solver", "judge-a", "judge-b", "judge-c")


@pytest.fixture
def models(settings) -> Iterator[ModelServer]:
    """Four models; the solver answers and all judges accept until told otherwise."""
    with model_server() as server:
        settings.COMPATIBLE_URL = server.url
        settings.MODELS = [f"compatible:{name}" for name in NAMES]
        settings.MODEL_TIMEOUT_S = 5
        server.tell(
            solver=says("It boils at 100 degrees."),
            judge_a=accepts,
            judge_b=accepts,
            judge_c=accepts,
        )
        yield server
