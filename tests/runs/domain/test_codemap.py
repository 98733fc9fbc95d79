import pytest

from runs.domain.codemap import CANONICAL, DOMAINS, LIVE, REGISTERED, V1_NAMES, is_vendor_type


def test_every_row_of_the_codemap_is_here():
    assert len(REGISTERED) == 117
    assert len(V1_NAMES) == 36


def test_every_v2_name_stands_for_a_registered_v1_name():
    assert set(V1_NAMES.values()) <= REGISTERED
    assert not V1_NAMES.keys() & REGISTERED


def test_a_name_is_canonical_or_has_one_that_is():
    assert {CANONICAL[name] for name in CANONICAL} == REGISTERED | LIVE
    assert all(CANONICAL[name] == name for name in REGISTERED | LIVE)


def test_the_protocol_s_domains_are_known():
    assert {"agent", "run", "core", "runOrchestrator", "orchestrator", "workflow-chain"} <= DOMAINS


@pytest.mark.parametrize(
    "name", ["acme.canvas.published", "acme-corp.x", "a.b_c-d", "agent.verifed", "interrupt.vote"]
)
def test_a_dotted_name_may_be_a_vendor_type(name):
    assert is_vendor_type(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "acme",
        "Acme.x",
        "1acme.x",
        ".acme.x",
        "acme.",
        "acme..x",
        "acme.x\n",
        "acmé.x",
        "acme.<b>",
        "openwop.x",
        "core.custom",
        "community.x",
        "vendor.acme.x",
        "private.x",
        "local.x",
        "console.gate.passed",
    ],
)
def test_other_names_and_reserved_prefixes_may_not(name):
    assert not is_vendor_type(name)
