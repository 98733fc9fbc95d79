#!/usr/bin/env python
"""Django's own commands, on the running Console of DATA_DIR when no DATABASE_URL is set."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from django.core.management import execute_from_command_line

from openwop_console.cli.instance import NothingRuns, point_at
from openwop_console.supervisor.folder import PROJECT, Folder


def main() -> None:
    """Run one command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")
    with suppress(NothingRuns):  # most commands need no database
        point_at(Folder(Path(os.environ.get("DATA_DIR", PROJECT / "var")).absolute()))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
