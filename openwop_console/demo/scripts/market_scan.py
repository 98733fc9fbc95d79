"""A market scan cannot get current prices, is sent back once, and gives up honestly."""

from openwop_console.demo.turn import Turn

SUPERVISOR = "supervisor.market"
ANALYST = "analyst.market"
CRITIC = "critic.freshness"


async def market_scan(turn: Turn) -> None:
    """A child run fails, the analyst makes do, the critic is not content, the supervisor stops."""
    chosen = await turn.sends(SUPERVISOR, "collector.prices", confidence=0.77)
    await turn.dispatches("collector.prices", "price-lookup", {"market": "DE"}, cause=chosen)
    for attempt in range(2):
        draft = await scanned(turn, attempt)
        await turn.verifies(
            CRITIC,
            target=draft,
            verdict="revise",
            criteria=["prices-current"],
            confidence=0.86,
        )
    met = {"competitors-covered": True, "prices-current": False}
    await turn.terminates(SUPERVISOR, "No source has current prices.", met, confidence=0.81)
    await turn.completes({"competitors": 6})


async def scanned(turn: Turn, attempt: int) -> str:
    """One turn of the analyst; returns the eventId of its decision."""
    await turn.sends(SUPERVISOR, ANALYST, confidence=0.74)
    async with turn.at("scan", ANALYST, attempt=attempt) as analyst:
        await analyst.calls("catalogue.search", {"page": attempt + 1}, returns={"offers": 31})
        await analyst.reasons("Six competitors have a public price list.", "Three are from spring.")
        await analyst.spends("openai/gpt-4.1-mini", 2_310, 380, usd=0.0021)
        table = {"competitors": 6, "pricesFrom": "2026-04"}
        scan = await analyst.writes("table", table, "Six competitors")
        return await analyst.decides({"kind": "answer", "artifactId": scan}, confidence=0.73)


async def price_lookup(turn: Turn) -> None:
    """The price service does not answer, and so the lookup fails."""
    async with turn.at("lookup", "collector.prices") as collector:
        for _ in range(2):
            await collector.calls("prices.read", {"market": "DE"}, status="rate_limited")
    error = {"code": "rate_limited", "message": "The price service did not answer."}
    await turn.emit("run.failed", {"error": error, "failedNodeId": "lookup"})
