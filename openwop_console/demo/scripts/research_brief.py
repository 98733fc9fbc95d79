"""A brief is researched, written, and passes its critics at the first attempt."""

from openwop_console.demo.turn import Turn

PLANNER = "planner.research"
TOPIC = "Heat pumps in listed buildings: what permits are needed?"
BRIEF = """# Heat pumps in listed buildings

Consent is needed for any outdoor unit that can be seen from the street [1]. Units behind a parapet
are usually permitted when noise stays under 42 dB at the boundary [2]. Ground loops need an
archaeological watching brief in two of the three boroughs [3].
"""


async def research_brief(turn: Turn) -> None:
    """Search in a child run, write in a node of our own; both are checked before they are used."""
    chosen = await turn.sends(PLANNER, "searcher.web", confidence=0.88)
    search = await turn.dispatches("searcher.web", "source-search", {"topic": TOPIC}, cause=chosen)
    await turn.verifies(
        "critic.sources",
        target=search.child.run_id,
        verdict="pass",
        criteria=["sources-resolve", "sources-recent"],
        confidence=0.91,
    )
    await search.is_harvested("sources")

    await turn.sends(PLANNER, "writer.brief", confidence=0.86)
    async with turn.at("write-brief", "writer.brief") as writer:
        await writer.reasons(
            "The three sources agree on street-facing units.",
            "They differ on noise limits, so I quote the strictest.",
        )
        await writer.spends("openai/gpt-4.1-mini", 1_840, 512, usd=0.0016)
        brief = await writer.writes("markdown", BRIEF, "One page, three sources")
        draft = await writer.decides({"kind": "answer", "artifactId": brief}, confidence=0.9)
    await turn.verifies(
        "critic.brief",
        target=draft,
        verdict="pass",
        criteria=["claims-cited", "question-answered"],
        confidence=0.93,
    )
    met = {"question-answered": True, "claims-cited": True}
    await turn.terminates(PLANNER, "The brief passed its critics.", met)
    await turn.completes({"artifactId": brief})


async def source_search(turn: Turn) -> None:
    """Three calls to a search tool and a list of sources."""
    async with turn.at("search", "searcher.web") as searcher:
        await searcher.reasons("Council guidance first, then two surveyors' notes.")
        for query in ("listed building consent heat pump", "heat pump noise limit 42 dB"):
            found = {"results": 8, "kept": 2}
            await searcher.calls("web.search", {"query": query}, returns=found)
        await searcher.spends("openai/gpt-4.1-mini", 920, 140, usd=0.0006)
        sources = await searcher.writes(
            "list", ["council", "surveyor-a", "surveyor-b"], "3 sources"
        )
        await searcher.decides({"kind": "sources", "artifactId": sources}, confidence=0.87)
    await turn.completes({"sources": sources})
