"""Every ink is readable on every ground it meets, in both themes (WCAG 2.2: 1.4.3, 1.4.11)."""

import re
from pathlib import Path

import pytest

TOKENS = (Path(__file__).parents[2] / "static" / "css" / "tokens.css").read_text()
DECLARED = dict(re.findall(r"--([a-z0-9-]+):\s*([^;]+);", TOKENS))

GROUNDS = ("paper", "surface", "sunken", "hover")
TONES = ("good", "bad", "warn", "person", "busy", "quiet", "alarm")
INKS = ("ink", "ink-soft", "ink-faint", "accent", *TONES)
TEXT = [(ink, ground) for ink in INKS for ground in GROUNDS] + [
    *((tone, f"{tone}-wash") for tone in TONES if tone != "alarm"),
    *(("ink", f"{tone}-wash") for tone in TONES if tone != "alarm"),
    *((ink, "accent-wash") for ink in ("ink", "ink-soft", "ink-faint")),
    ("ink-soft", "quiet-wash"),
    ("ink", "person-wash"),
    ("on-accent", "accent"),
    ("on-alarm", "alarm-fill"),
    ("paper", "person"),
]
EDGES = [("line-strong", ground) for ground in ("paper", "surface")] + [
    ("focus-ring", ground) for ground in GROUNDS
]


def colour(name, theme):
    """Follow a token to its hexadecimal value in one theme."""
    value = DECLARED[name].strip()
    if pair := re.fullmatch(r"light-dark\((.+?),\s*(.+)\)", value):
        value = pair.group(1 if theme == "light" else 2).strip()
    if reference := re.fullmatch(r"var\(--([a-z0-9-]+)\)", value):
        return colour(reference.group(1), theme)
    assert re.fullmatch(r"#[0-9a-f]{6}", value), f"{name}: {value}"
    return value


def luminance(hexadecimal):
    channels = (int(hexadecimal[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other, theme):
    low, high = sorted(luminance(colour(name, theme)) for name in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_is_21_to_1():
    assert luminance("#ffffff") == pytest.approx(1)
    assert luminance("#000000") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_is_readable(ink, ground, theme):
    assert contrast(ink, ground, theme) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("edge", "ground"), EDGES)
def test_the_edge_of_a_field_can_be_seen(edge, ground, theme):
    assert contrast(edge, ground, theme) >= 3
