import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.run_ids import BadSegment, from_segment, to_segment


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_every_id_comes_back_from_its_segment(run_id):
    assert from_segment(to_segment(run_id)) == run_id


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_segment_needs_no_escaping(run_id):
    assert set(to_segment(run_id)) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-~"
    )


def test_a_slash_travels_as_the_protocol_projects_it():
    assert to_segment("acme/r-9f3c") == "acme~2Fr-9f3c"


def test_a_slash_that_the_server_decoded_is_taken():
    assert from_segment("acme/r-9f3c") == "acme/r-9f3c"


@pytest.mark.parametrize("segment", ["a~", "a~2", "a~zz", "~ff", "a~00", "a\0"])
def test_a_stray_tilde_names_no_run(segment):
    with pytest.raises(BadSegment):
        from_segment(segment)


@pytest.mark.parametrize("segment", [".", "..", "../../admin", "a/../b", "a/.", "\ufffd\ufffd"])
def test_what_no_address_holds_names_no_run(segment):
    with pytest.raises(BadSegment):
        from_segment(segment)


@pytest.mark.parametrize("run_id", [".", "..", "a..b", "..a"])
def test_an_id_of_dots_can_be_asked_for_all_the_same(run_id):
    assert from_segment(to_segment(run_id)) == run_id
