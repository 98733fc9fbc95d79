"""The official SDK and we agree where it is strict enough, and where not we are stricter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openwop_client import project_id, unproject_id, verify_webhook_signature
from openwop_client.webhook_helpers import VerifyValid, webhook_delivery_headers

from runs.domain.run_ids import from_segment, to_segment
from runs.domain.webhooks import Unverified, verify
from tests.signing import NOW, SECRET, mac, stamp

BODY = b'{"runId":"run-1"}'
SEGMENT = st.from_regex(r"[A-Za-z0-9._~-]{16,32}", fullmatch=True)


TENANT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(TENANT, SEGMENT)
def test_a_bound_id_travels_as_the_sdk_projects_it(tenant, opaque):
    bound = f"{tenant}/{opaque}"

    assert to_segment(bound) == project_id(bound)
    assert from_segment(project_id(bound)) == unproject_id(to_segment(bound)) == bound


def test_what_the_sdk_signs_is_believed():
    signed = webhook_delivery_headers(SECRET, int(stamp()), BODY)
    headers = {name.lower(): value for name, value in signed.items()}

    spelling = verify(headers, BODY, secrets=[SECRET], now=NOW).spelling
    assert spelling == "openwop sha256 + x-openwop sha256"


@pytest.mark.parametrize(
    ("time", "secret"),
    [
        (f" {stamp()} ", SECRET),
        (f"+{stamp()}", SECRET),
        (f"000{stamp()}", SECRET),
        (f"{stamp()[:1]}_{stamp()[1:]}", SECRET),
        ("".join(chr(0x660 + int(digit)) for digit in stamp()), SECRET),
        (stamp(), ""),
    ],
)
def test_what_the_sdk_takes_and_should_not_is_not_believed(time, secret):
    """The SDK signs the number that it reads, not the header that was sent."""
    signature = f"sha256={mac(secret, stamp(), BODY)}"
    now_s = int(stamp())
    taken = verify_webhook_signature(secret, signature, time, BODY, now_seconds=now_s)
    assert isinstance(taken, VerifyValid)

    headers = {
        "openwop-signature": signature,
        "openwop-timestamp": time,
        "openwop-signature-algorithm": "v1",
    }
    with pytest.raises(Unverified):
        verify(headers, BODY, secrets=[secret], now=NOW)
