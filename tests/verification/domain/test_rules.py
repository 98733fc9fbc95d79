"""The defaults are the protocol's."""

from verification.domain.rules import Rules


def test_the_lines_are_drawn_where_the_protocol_draws_them():
    rules = Rules()

    assert (rules.actor_threshold, rules.verifier_floor, rules.orchestrator_floor) == (
        0.7,
        0.5,
        0.5,
    )
    assert rules.max_loop_iterations is None
    assert rules.audit_share == 0
