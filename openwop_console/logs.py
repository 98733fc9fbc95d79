"""Lines of the log: what failed and where, and never what with.

The message of an exception that is not ours can hold anything: a database quotes the row that it
refuses, a parser the text that it cannot read. So of such an exception only its type is logged, and
the lines of code that it came through.
"""

import logging
import traceback
from types import TracebackType

OURS = ("openwop_console.", "runs.", "verification.")
"""Modules whose exceptions say ids and reasons only, by the rule of the house."""
_TASKS = "celery.app.trace"

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class Line(logging.Formatter):
    """Formats one event as one line, and an exception as the way it took."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; Celery's own about a task quotes the exception, so it is made anew."""
        if record.name == _TASKS and isinstance(getattr(record, "data", None), dict):
            record = logging.makeLogRecord(record.__dict__)
            task = record.__dict__["data"]
            record.msg = f"task {task.get('name')} [{task.get('id')}]: {record.levelname.lower()}"
            record.args, record.exc_text = None, None
        return super().format(record)

    def formatException(self, ei: _ExcInfo) -> str:
        """Return an exception and those before it."""
        told: list[str] = []
        error = ei[1]
        while error is not None and len(told) < 10:
            frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
            told.append(f"{frames}{_named(error)}")
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\nbefore it:\n".join(told)


def _named(error: BaseException) -> str:
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return f"{name}: {error}" if name.startswith(OURS) else name
