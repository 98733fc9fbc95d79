"""An answer to a customer fails its critic, and a person decides what becomes of it."""

from openwop_console.demo.asgi import JsonObject
from openwop_console.demo.asks import approval
from openwop_console.demo.interrupts import Outcome
from openwop_console.demo.store import Interrupt
from openwop_console.demo.turn import Handoff, Turn

SUPERVISOR = "supervisor.support"
CRITIC = "critic.policy"
REVIEW = "human-review"
CRITERIA = ("policy-followed", "amount-correct")
GENEROUS = "You bought it 41 days ago. We will refund the full 129.00 EUR to your card today."
ACCURATE = (
    "You bought it 41 days ago, so the 30-day refund no longer applies. We can exchange it, or"
    " give you a voucher over 129.00 EUR."
)


async def refund_policy(turn: Turn) -> None:
    """Draft, check, and on a `fail` ask a person: accept, reject, or send back once more."""
    inputs: JsonObject = {"ticket": "T-20418", "attempt": 1}
    while True:
        draft = await drafted(turn, inputs)
        if inputs["attempt"] > 1:
            await turn.verifies(
                CRITIC,
                target=draft.child.run_id,
                verdict="pass",
                criteria=CRITERIA,
                confidence=0.92,
            )
            return await sent(turn, draft)
        answer = await asked_a_person(turn, draft)
        if answer.outcome is Outcome.ACCEPTED:
            await overridden(turn, draft, answer)
            return await sent(turn, draft)
        if answer.outcome is Outcome.REJECTED:
            return await withheld(turn)
        inputs = {**inputs, "attempt": inputs["attempt"] + 1}


async def drafted(turn: Turn, inputs: JsonObject) -> Handoff:
    """A child run writes the answer."""
    chosen = await turn.sends(SUPERVISOR, "agent.refunds", confidence=0.84)
    return await turn.dispatches("agent.refunds", "refund-answer", inputs, cause=chosen)


async def asked_a_person(turn: Turn, draft: Handoff) -> Interrupt:
    """The critic fails the draft; the run waits."""
    await turn.verifies(
        CRITIC, target=draft.child.run_id, verdict="fail", criteria=CRITERIA, confidence=0.94
    )
    await turn.asks_user(SUPERVISOR, "The critic failed this answer. Send it anyway?")
    (artifact,) = draft.child.artifacts
    return await turn.asks(
        approval(
            REVIEW,
            title="Refund answer for ticket T-20418",
            description="The draft promises a refund outside the 30-day window.",
            artifact_id=artifact,
            artifact_type="text",
        )
    )


async def overridden(turn: Turn, draft: Handoff, answer: Interrupt) -> None:
    """The person's word stands against the critic's, and the log says whose."""
    given = answer.resume_value
    payload: JsonObject = {
        "gateId": draft.child.run_id,
        "principal": str(given.get("decidedBy") or "reviewer"),
        "reason": str(given.get("feedback") or "Accepted by a reviewer."),
    }
    await turn.emit("approval.overridden", payload, node=REVIEW)


async def sent(turn: Turn, draft: Handoff) -> None:
    """The answer goes out."""
    await draft.is_harvested("answer")
    met = {"customer-answered": True, "policy-checked": True}
    await turn.terminates(SUPERVISOR, "The answer may go out.", met)
    await turn.completes({"answer": "sent"})


async def withheld(turn: Turn) -> None:
    """Nothing goes out."""
    met = {"customer-answered": False, "policy-checked": True}
    await turn.terminates(SUPERVISOR, "A reviewer withheld the answer.", met)
    await turn.completes({"answer": "withheld"})


async def refund_answer(turn: Turn) -> None:
    """Generous at first; accurate once it was sent back."""
    text = GENEROUS if turn.run.inputs.get("attempt", 1) == 1 else ACCURATE
    async with turn.at("draft-answer", "agent.refunds") as agent:
        order = {"orderId": "O-7731", "boughtDaysAgo": 41, "amount": "129.00 EUR"}
        await agent.calls("orders.read", {"orderId": "O-7731"}, returns=order)
        await agent.reasons("The customer is polite and loyal.", "The item is unopened.")
        await agent.spends("openai/gpt-4.1-mini", 1_120, 88, usd=0.0006)
        answer = await agent.writes("text", text, "Answer to the customer")
        await agent.decides({"kind": "answer", "artifactId": answer}, confidence=0.81)
    await turn.completes({"answer": answer})
