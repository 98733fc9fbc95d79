"""What `doctor` says of sweeps and of credentials, over the tables."""

from datetime import timedelta

import pytest
from django.utils import timezone

from openwop_console.cli import doctor
from runs.actions.hosts import connect_host
from runs.actions.sweeps import note

ANOTHER = "a" * 43 + "="

pytestmark = pytest.mark.django_db


def swept(ago: timedelta, failed: int = 0) -> None:
    for name in doctor.SWEEPS:
        note(name, failed=failed, now=timezone.now() - ago)


def test_it_is_well_when_both_sweeps_come(db):
    swept(timedelta(seconds=5))

    assert doctor.sweeps().well


def test_it_says_when_no_sweep_has_come_for_long_or_one_never_did(db):
    note("hosts", now=timezone.now())
    assert not doctor.sweeps().well

    swept(timedelta(minutes=10))
    found = doctor.sweeps()
    assert not found.well
    assert "600 s" in found.state
    assert "beat" in found.fix


def test_a_slow_rhythm_is_no_fault(db, settings):
    settings.SWEEP_INTERVAL_S = 300
    swept(timedelta(minutes=10))

    assert doctor.sweeps().well


def test_a_sweep_of_which_a_part_failed_is_not_well(db):
    swept(timedelta(seconds=5), failed=1)

    assert not doctor.sweeps().well


@pytest.mark.parametrize("key", [ANOTHER, "", "no key at all"])
def test_it_says_when_credentials_were_sealed_with_another_key(host, settings, key):
    connect_host(host_id=host.slug, base_url="http://127.0.0.1:9", api_key="k")
    assert doctor.credentials().well

    settings.ENCRYPTION_KEY = key

    found = doctor.credentials()
    assert not found.well
    assert found.state == "2 of 2 cannot be opened"
    assert "OPENWOP_CONSOLE_ENCRYPTION_KEY" in found.fix
