"""Hosts: their one spelling, their registrable domain, and which of them are nobody's business from outside.

For: comparing hosts (URL identity), budgets per registrable domain, refusing internal targets by their text.
Not for: resolving names. The fetch tier resolves, and asks `address_refusal` about every answer at connect time,
because a harmless name may point inside.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from functools import lru_cache
from typing import Final

import idna
import tld

#: Ports on which the public web answers; any other is a service that no article lives on.
USUAL_PORTS: Final = frozenset({80, 443, 8000, 8008, 8080, 8081, 8443, 8888})

#: Names that never leave a machine or a network (RFC 6761, RFC 6762, RFC 8375, cloud metadata services).
_INTERNAL_SUFFIXES: Final = (
    "localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa",
    "onion",
)  # fmt: skip

#: Ranges that `ipaddress` of Python 3.11 calls global although nothing public is there.
_EXTRA_DENIED: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        "100.64.0.0/10",  # carrier-grade NAT (RFC 6598), also one cloud's metadata service
        "192.0.0.0/24",  # IETF protocol assignments
        "192.88.99.0/24",  # 6to4 relays (RFC 7526)
        "198.18.0.0/15",  # benchmarks (RFC 2544)
        "224.0.0.0/4",  # multicast
        "ff00::/8",
        "64:ff9b:1::/48",  # local-use NAT64 (RFC 8215)
        "2001::/23",  # IETF protocol assignments, Teredo
        "fec0::/10",  # old site-local
        "::/96",  # old IPv4-compatible
    )
)
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_SIX_TO_FOUR: Final = ipaddress.ip_network("2002::/16")
_NUMBER_PART: Final = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")


@lru_cache(maxsize=65536)
def ascii_host(host: str) -> str | None:
    """Lower-case A-label spelling (UTS 46, non-transitional) without a final dot; None when it is no host.

    IPv4 number forms (decimal, octal, hexadecimal, short) become dotted quads, IPv6 its compressed form in
    brackets, as browsers read them (WHATWG URL, host parsing).
    """
    host = host.strip()
    if host.startswith("["):
        return _ipv6(host)
    host = unicodedata.normalize("NFKC", host).rstrip(".").lower()
    if not host or len(host) > 253:
        return None
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True, transitional=False).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return None
    if _NUMBER_PART.fullmatch(host.rpartition(".")[2]):
        return _ipv4(host)
    return host if all(_LABEL.fullmatch(label) for label in host.split(".")) else None


def _ipv4(host: str) -> str | None:
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER_PART.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return None
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        return None
    value = numbers[-1] + sum(number << (8 * (3 - place)) for place, number in enumerate(numbers[:-1]))
    return str(ipaddress.IPv4Address(value))


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part.startswith("0") else int(part)


def _ipv6(host: str) -> str | None:
    if not host.endswith("]"):
        return None
    inner = host[1:-1].replace("%25", "%")
    try:
        address = ipaddress.IPv6Address(inner)
    except ValueError:
        return None
    return f"[{address.compressed}]"


def address_refusal(address: str) -> str | None:
    """Why an IP address (text, brackets allowed) must not be connected to, or None when it is public.

    >>> address_refusal("64:ff9b::7f00:1")
    'loopback'
    """
    try:
        ip = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return "not-an-address"
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is None and ip in _SIX_TO_FOUR:
            inner = ip.sixtofour
        if inner is not None:
            return address_refusal(str(inner))
    if ip.is_loopback:
        return "loopback"
    if ip.is_link_local:
        return "link-local"
    if ip.is_unspecified:
        return "unspecified"
    if ip.is_multicast:
        return "multicast"
    if ip.is_private:
        return "private"
    if not ip.is_global or any(ip.version == net.version and ip in net for net in _EXTRA_DENIED):
        return "not-global"
    return None


def host_refusal(host: str) -> str | None:
    """Why this host must not be fetched, judged by its text alone (names still have to be resolved and judged)."""
    ascii_form = ascii_host(host)
    if ascii_form is None:
        return "bad-host"
    if ascii_form.startswith("[") or ascii_form.replace(".", "").isdigit():
        return address_refusal(ascii_form)
    if any(ascii_form == suffix or ascii_form.endswith("." + suffix) for suffix in _INTERNAL_SUFFIXES):
        return "internal-name"
    return None


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """`www.paper.co.uk` -> `paper.co.uk` by the Public Suffix List (private suffixes count: each blog of a platform
    is its own site). An unknown suffix counts as one label; an IP address is its own domain; never an error.
    """
    ascii_form = ascii_host(host) or host.lower()
    if ascii_form.startswith("[") or ascii_form.replace(".", "").isdigit():
        return ascii_form
    found = tld.get_fld(f"https://{ascii_form}/", fail_silently=True, search_private=True)
    if found:
        return str(found)
    return ".".join(ascii_form.split(".")[-2:])
