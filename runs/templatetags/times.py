"""One way to write a time: UTC text from the server, which clock.js may turn local or relative.

Nothing here looks at a clock; what is relative to now is left to the reader's browser.
"""

from datetime import UTC, datetime, timedelta
from typing import Literal

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

Style = Literal["relative", "clock", "full", "countdown", "elapsed"]

NOTHING = SafeString('<span class="nothing">–</span>')
"""A time that has not come. An en dash: readers of a table must see that it is not forgotten."""


def iso(moment: datetime) -> str:
    """Return an aware time as UTC with milliseconds: `2026-11-30T09:21:07.123Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plain(moment: datetime, style: Style) -> str:
    """Return the words for a time that hold without a script, in UTC."""
    utc = moment.astimezone(UTC)
    if style == "clock":
        return f"{utc:%H:%M:%S}.{utc.microsecond // 1000:03d}"
    return f"{utc.day} {utc:%b %H:%M} UTC" if style != "full" else f"{utc:%Y-%m-%d %H:%M:%S} UTC"


@register.filter
def span(lasted_for: timedelta) -> str:
    """Return a duration in its two largest units: `840 ms`, `12.4 s`, `3 m 08 s`, `2 h 05 m`."""
    seconds = lasted_for.total_seconds()
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    seconds = round(seconds, 1)
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, whole = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} m {whole:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes:02d} m"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours:02d} h"


@register.simple_tag
def when(moment: datetime | None, style: Style = "relative") -> SafeString:
    """Draw a time; the full UTC time is in its title.

    `relative` counts from now, `clock` is the time of day with milliseconds, `full` has the date,
    `countdown` runs down to the moment, `elapsed` counts up from it.
    """
    if moment is None:
        return NOTHING
    return format_html(
        '<time datetime="{}" title="{}" data-when="{}">{}</time>',
        iso(moment),
        plain(moment, "full"),
        style,
        plain(moment, style),
    )


@register.simple_tag
def lasted(started: datetime | None, ended: datetime | None) -> SafeString:
    """Draw how long something took, or, while it goes on, how long it has been going."""
    if started is None:
        return NOTHING
    if ended is None:
        return when(started, "elapsed")
    duration = max(ended - started, timedelta())
    seconds = f"{duration.total_seconds():.3f}"
    return format_html('<time datetime="PT{}S">{}</time>', seconds, span(duration))
