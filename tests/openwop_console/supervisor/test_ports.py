"""Ports are free when they are handed out, and a taken one is named."""

import pytest

from openwop_console.supervisor.ports import PortTaken, bound, free_port


def test_the_preferred_port_is_kept_while_it_is_free():
    port = free_port()

    assert free_port(port) == port


def test_another_port_is_found_when_the_preferred_one_is_taken():
    with bound("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]

        assert free_port(port) != port


def test_a_taken_port_is_named_with_a_way_out():
    with bound("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(PortTaken, match=rf"127\.0\.0\.1:{port} .*PORT={port + 1}"):
            bound("127.0.0.1", port)


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(PortTaken, match=r"192\.0\.2\.1"):
        bound("192.0.2.1", 0)
