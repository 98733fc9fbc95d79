"""A host speaks for the runs of its own tenant only."""

import pytest

from runs.domain.tenants import is_foreign


@pytest.mark.parametrize(
    ("run_id", "tenant", "foreign"),
    [
        ("acme/r-0123456789abcdef", "acme", False),
        ("acme/r-0123456789abcdef", "other", True),
        ("acme/r-0123456789abcdef", "", False),
        ("anon:acme/r-0123456789abcdef", "acme", True),
        ("anon:acme/r-0123456789abcdef", "anon:acme", False),
        ("r-1", "acme", False),
        ("/r-1", "acme", True),
        ("ACME/r-1", "acme", True),
    ],
)
def test_only_a_bound_id_can_be_another_tenants(run_id, tenant, foreign):
    assert is_foreign(run_id, tenant) is foreign
