"""Deals the tests out to the processes that run them, one per core.

A file stays together, for what its fixtures start. A folder that shares a Console stays together
too, and comes first: its tests are few and long, and wait more than they work.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

SHARING_A_CONSOLE = ("tests/system/", "tests/browser/")


class FileByFile(LoadScopeScheduling):
    """Deals files, and whole folders where they share a Console, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        for folder in SHARING_A_CONSOLE:
            if nodeid.startswith(folder):
                return folder
        return nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileByFile:
    """Return what decides which process runs which tests."""
    config.option.loadscopereorder = False
    return FileByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long ones first."""
    items.sort(key=lambda item: not item.nodeid.startswith(SHARING_A_CONSOLE))
