"""Hosts: registrable domains and addresses that must not be connected to."""

import pytest

from frontpage.domain.hosts import address_refusal, ascii_host, registrable_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.paper.co.uk", "paper.co.uk"),
        ("news.paper.com.au", "paper.com.au"),
        ("a.b.paper.example", "paper.example"),
        ("one.github.io", "one.github.io"),
        ("10.0.0.1", "10.0.0.1"),
        ("localhost", "localhost"),
    ],
)
def test_registrable_domain(host, domain):
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.1.1", "::1", "fe80::1%eth0", "64:ff9b::7f00:1", "100.64.0.1", "192.88.99.1", "224.0.0.1", "x"],
)
def test_addresses_inside_are_refused(address):
    assert address_refusal(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_addresses_outside_are_not(address):
    assert address_refusal(address) is None


@pytest.mark.parametrize(
    "host", ["-a.test", "a b.test", "a_b..test", "[::1", "300.1.1.1", "1.2.3.4.5", "x" * 64 + ".test"]
)
def test_what_is_no_host_is_none(host):
    assert ascii_host(host) is None
