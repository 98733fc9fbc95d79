"""Figures as Plotly specifications, without colours: the page's style sheet says what they are.

A trace names its tone in `meta`; static/js/figures.js fills in the colour of the reader's theme.
Below twenty counted things there is no figure, only the table: a plot of few is read as more than
it says.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from runs.domain.excerpts import excerpt
from verification.queries.analytics import Share

LEAST = 20
"""Things that must have been counted before they are drawn."""

LABEL = 28
"""Characters that a label beside a bar has."""
STANDOFF_PX = 6
"""Between a bar and its label."""


def stacked(
    shares: Sequence[Share], words: Mapping[str, tuple[str, str]], *, sideways: bool = False
) -> dict[str, Any] | None:
    """Return stacked bars, one for each share; None when too little was counted.

    Args:
        shares: one bar each, in order.
        words: label and tone by counted word, in the order of the stack.
        sideways: bars run from left to right.
    """
    if sum(share.total for share in shares) < LEAST:
        return None
    names = [share.name for share in shares]
    figure = go.Figure()
    for word, (label, tone) in words.items():
        counts = [share.counts.get(word, 0) for share in shares]
        if any(counts):
            along = {"x": counts, "y": names} if sideways else {"x": names, "y": counts}
            figure.add_bar(**along, name=label, meta=tone, orientation="h" if sideways else "v")
    figure.update_layout(
        barmode="stack",
        bargap=0.25,
        height=max(240, 28 * len(shares)) if sideways else 280,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": -0.15},
        xaxis={"automargin": True, "ticklabelstandoff": STANDOFF_PX},
        yaxis={
            "automargin": True,
            "autorange": "reversed" if sideways else True,
            "ticklabelstandoff": STANDOFF_PX,
            **(_short(names) if sideways else {}),
        },
    )
    spec: dict[str, Any] = json.loads(figure.to_json())
    spec["layout"].pop("template", None)
    return spec


def _short(names: Sequence[str]) -> dict[str, list[str]]:
    """Return labels that leave the bars their room; the table beside has the names in full."""
    return {"tickvals": list(names), "ticktext": [excerpt(name, LABEL) for name in names]}
