"""Which addresses the fetch tier may connect to, and where names of the sample world lead. The only gate outwards.

Three checks, because each alone has a hole: the address as written (scheme, user part, port, number forms of IPv4,
inside names), every answer of DNS, and the address that is dialled, at the moment of dialling, so that a second DNS
answer or an IP literal (which passes by aiohttp's resolver) cannot slip through. Each redirect passes all three again.

The resolver map exists only in the development profile: hosts of the sample world go to one local port, whatever
scheme and port their address names (https of a made-up host is fetched as http there).
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from frontpage.domain.hosts import USUAL_PORTS, address_refusal, ascii_host, host_refusal
from frontpage.domain.urls import clean_link
from frontpage.errors import ConfigurationError, FetchFailed, FetchRefused

#: name, port -> numeric addresses
Lookup = Callable[[str, int], Awaitable[list[str]]]

#: RFC 6761: names that never exist outside, so that the sample world can use them.
RESERVED_SUFFIXES: Final = (".example", ".test")


@dataclass(frozen=True, slots=True)
class ResolverMap:
    """Hosts that end in one of `suffixes`, or all when `everything` (evaluation runs), lead to `ip:port`."""

    ip: str
    port: int
    suffixes: tuple[str, ...] = RESERVED_SUFFIXES
    everything: bool = False

    @classmethod
    def parse(cls, setting: str, *, everything: bool = False) -> ResolverMap:
        """From the setting `127.0.0.1:PORT`; raises ConfigurationError unless it is a loopback address and a port."""
        ip, _, port = setting.rpartition(":")
        try:
            address, number = ipaddress.ip_address(ip.strip("[]")), int(port)
        except ValueError:
            raise ConfigurationError(f"FRONTPAGE_RESOLVER must be 127.0.0.1:PORT, not {setting!r}") from None
        if not address.is_loopback or not 0 < number < 65536:
            raise ConfigurationError(f"FRONTPAGE_RESOLVER must be a loopback address and a port, not {setting!r}")
        return cls(str(address), number, everything=everything)

    def covers(self, host: str) -> bool:
        """Whether `host` is one of the sample world's."""
        return self.everything or f".{host}".endswith(self.suffixes)


class Gate(AbstractResolver):
    """Judges addresses for one client session. `local` (tests only) opens single `(ip, port)` pairs of this machine."""

    def __init__(
        self,
        mapped: ResolverMap | None = None,
        *,
        local: frozenset[tuple[str, int]] = frozenset(),
        lookup: Lookup | None = None,
    ) -> None:
        self._mapped = mapped
        self._local = local
        self._lookup = lookup or _system_lookup

    def admit(self, raw: str) -> tuple[URL, URL]:
        """`(address, address to dial)`; they differ for mapped hosts only. Raises FetchRefused with its cause."""
        link, cause = clean_link(raw)
        if link is None:
            raise FetchRefused("not an address to fetch", cause=cause or "bad-url")
        try:
            url = URL(link.partition("#")[0])
            raw_host = url.raw_host or ""
            # decoding is dear and changes nothing but spelt-out names
            host = ascii_host(url.host or "" if "xn--" in raw_host else raw_host)
        except (ValueError, UnicodeError) as error:
            raise FetchRefused(f"not an address: {error}"[:200], cause="bad-url") from None
        if host is None or url.port is None:
            raise FetchRefused("the address has no readable host", cause="bad-host")
        bare = host.strip("[]")
        if bare != raw_host:
            # aiohttp must dial the very spelling that was judged
            url = url.with_host(bare)
        if self._mapped is not None and self._mapped.covers(host):
            plain = url.scheme == "http" and url.explicit_port is None
            return url, url if plain else url.with_scheme("http").with_port(None)
        if (bare, url.port) not in self._local:
            refusal = host_refusal(host) or ("internal-name" if "." not in host and ":" not in host else None)
            if refusal is not None:
                raise FetchRefused(f"{host[:100]} is not a host of the public internet", cause=refusal)
            if url.port not in USUAL_PORTS and not any(url.port == port for _, port in self._local):
                raise FetchRefused(f"port {url.port} does not serve the web", cause="port")
        return url, url

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """aiohttp's resolver: all answers are judged, one that leads inside refuses the name."""
        del family
        if self._mapped is not None and self._mapped.covers(ascii_host(host) or ""):
            return [_result(host, self._mapped.ip, self._mapped.port)]
        answers = await self._lookup(host, port)
        for answer in answers:
            self._judge(answer, port)
        return [_result(host, answer, port) for answer in answers]

    async def close(self) -> None:
        """Nothing is held."""

    def dial(self, info: tuple[Any, ...]) -> socket.socket:
        """aiohttp's socket factory: the last look at the very address that is about to be connected to."""
        family, kind, protocol, _, target = info
        ip, port = target[0], target[1]
        if self._mapped is None or (ip, port) != (self._mapped.ip, self._mapped.port):
            self._judge(ip, port)
        return socket.socket(family=family, type=kind, proto=protocol)

    def _judge(self, address: str, port: int) -> None:
        refusal = address_refusal(address)
        if refusal is not None and (address, port) not in self._local:
            raise FetchRefused(f"{address} is not an address of the public internet", cause=refusal)


def _result(name: str, ip: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    return ResolveResult(hostname=name, host=ip, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST)


async def _system_lookup(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except (OSError, UnicodeError) as error:
        raise FetchFailed(f"{host[:100]} has no address: {error}"[:200], cause="dns") from None
    return [str(sockaddr[0]) for *_, sockaddr in found]
