"""A summary is sent back by one of two critics, revised, and passes."""

from openwop_console.demo.turn import Turn

SUPERVISOR = "supervisor.legal"
WRITER = "writer.contracts"
DRAFTS = (
    "The supplier delivers monthly. Either side may end the contract with 60 days' notice.",
    "The supplier delivers monthly. Either side may end the contract with 60 days' notice."
    " Liability is capped at the fees of the last twelve months (clause 14.2).",
)


async def contract_summary(turn: Turn) -> None:
    """Write; a critic misses the liability clause; write again."""
    first = await summarised(turn, attempt=0)
    await judged(turn, first, coverage="revise")
    second = await summarised(turn, attempt=1)
    await judged(turn, second, coverage="pass")
    met = {"key-clauses-covered": True, "plain-language": True}
    await turn.terminates(SUPERVISOR, "Both critics passed the second version.", met)
    await turn.completes({"versions": 2})


async def summarised(turn: Turn, attempt: int) -> str:
    """One turn of the writer; returns the eventId of its decision."""
    await turn.sends(SUPERVISOR, WRITER, confidence=0.83)
    async with turn.at("summarise", WRITER, attempt=attempt) as writer:
        clauses = {"clauses": 22, "flagged": ["9.1", "14.2"]}
        await writer.calls("contracts.read", {"contractId": "C-118"}, returns=clauses)
        await writer.reasons("Term and termination first.", "Then what it costs to be wrong.")
        await writer.spends("openai/gpt-4.1", 6_400, 420, usd=0.0162)
        text = await writer.writes("text", DRAFTS[attempt], f"Version {attempt + 1}")
        return await writer.decides({"kind": "answer", "artifactId": text}, confidence=0.79)


async def judged(turn: Turn, target: str, *, coverage: str) -> None:
    """Two critics look at one version; the stricter one decides."""
    await turn.verifies(
        "critic.language",
        target=target,
        verdict="pass",
        criteria=["plain-language"],
        confidence=0.9,
    )
    await turn.verifies(
        "critic.coverage",
        target=target,
        verdict="pass" if coverage == "pass" else "revise",
        criteria=["key-clauses-covered"],
        confidence=0.88,
    )
