import pytest

from runs.domain.ids import fault_in_event_id, fault_in_id, fault_in_run_id


@pytest.mark.parametrize(
    "value", ["e1", "節点-1", "a b", "x" * 128, "acme/1:2~3", "été", "\U0001f600"]
)
def test_an_id_is_any_printable_text(value):
    assert fault_in_id(value, 128) is None


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (7, "type"),
        (None, "type"),
        ({"$ne": None}, "type"),
        ("", "schema"),
        ("x" * 129, "schema"),
        (" e", "id_charset"),
        ("e ", "id_charset"),
        ("e\n", "id_charset"),
        ("e\x7f", "id_charset"),
        ("e\u00a0e", "id_charset"),
        ("e\u200d", "id_charset"),
        ("e\u202ee", "id_charset"),
        ("e\u2028e", "id_charset"),
        ("e\ufeffe", "id_charset"),
        ("e\U000e0041", "id_charset"),
        ("e\ud800", "id_charset"),
    ],
)
def test_what_is_too_long_or_cannot_be_seen_is_no_id(value, fault):
    assert fault_in_id(value, 128) == fault


def test_the_ids_of_our_own_lines_are_not_for_hosts():
    assert fault_in_event_id("console:refused:0", 128) == "id_reserved"
    assert fault_in_event_id("console-1", 128) is None


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("t" * 128 + "/" + "r" * 128, None),
        ("anon:" + "t" * 128 + "/" + "r" * 128, None),
        ("t" * 129 + "/" + "r" * 128, "schema"),
        ("t" * 120 + "/" + "r" * 15, "schema"),
        ("t" * 128 + "/r r" + "r" * 128, "schema"),
        ("short", None),
        ("x\ny", "id_charset"),
    ],
)
def test_only_a_tenant_bound_run_id_may_be_longer(value, fault):
    assert fault_in_run_id(value, 128) == fault
