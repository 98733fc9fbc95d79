"""A travel desk lacks two facts, asks the traveller, and books what it is told."""

from collections.abc import Mapping

from openwop_console.demo.asks import clarification
from openwop_console.demo.turn import Turn

SUPERVISOR = "supervisor.travel"
QUESTIONS = {
    "arrival": "By when must you be in Lisbon?",
    "luggage": "Do you check in luggage?",
}


async def travel_desk(turn: Turn) -> None:
    """Ask the user, wait for answers, plan, check, done."""
    asked = await turn.asks_user(SUPERVISOR, "Two facts are missing before I can book.")
    reply = await turn.asks(clarification("ask-traveller", QUESTIONS, cause=asked))
    wishes = answers_in(reply.resume_value)

    await turn.sends(SUPERVISOR, "agent.bookings", confidence=0.87)
    async with turn.at("plan-trip", "agent.bookings") as agent:
        offers = {"offers": 4, "cheapest": "184.00 EUR"}
        await agent.calls("flights.search", {"to": "LIS", "wishes": wishes}, returns=offers)
        await agent.reasons("The early flight leaves room for a delay.", "Luggage as asked.")
        await agent.spends("openai/gpt-4.1-mini", 1_480, 210, usd=0.0009)
        plan = await agent.writes("itinerary", {"flight": "TP 571", **wishes}, "One itinerary")
        booking = await agent.decides({"kind": "answer", "artifactId": plan}, confidence=0.89)
    await turn.verifies(
        "critic.travel",
        target=booking,
        verdict="pass",
        criteria=["arrives-in-time", "within-budget"],
        confidence=0.9,
    )
    met = {"arrives-in-time": True, "within-budget": True}
    await turn.terminates(SUPERVISOR, "The trip is planned as asked.", met)
    await turn.completes({"artifactId": plan})


def answers_in(value: Mapping[str, object]) -> dict[str, str]:
    """The answers by question id; they come as an object or as a list."""
    answers = value.get("answers")
    if isinstance(answers, list):
        answers = {item.get("id"): item.get("answer") for item in answers}
    given = answers if isinstance(answers, dict) else {}
    return {key: str(given[key]) for key in QUESTIONS if key in given}
