"""The workflows of the demo host: small multi-agent stories, told in the words of `turn.Turn`.

To add one, write a function that takes a turn, in a file of its own, and name it below. Agents,
criteria and results are invented; nothing here calls a model.
"""

from openwop_console.demo.engine import Script
from openwop_console.demo.scripts.contract_summary import contract_summary
from openwop_console.demo.scripts.market_scan import market_scan, price_lookup
from openwop_console.demo.scripts.refund_policy import refund_answer, refund_policy
from openwop_console.demo.scripts.research_brief import research_brief, source_search
from openwop_console.demo.scripts.travel_desk import travel_desk

STORIES: dict[str, Script] = {
    "research-brief": research_brief,
    "refund-policy": refund_policy,
    "contract-summary": contract_summary,
    "market-scan": market_scan,
    "travel-desk": travel_desk,
}
"""What the player starts, in this order."""

SCRIPTS: dict[str, Script] = {
    **STORIES,
    "source-search": source_search,
    "refund-answer": refund_answer,
    "price-lookup": price_lookup,
}
"""Everything that can run, with the workflows that stories hand work to."""
