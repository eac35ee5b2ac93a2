"""The fetch tier: the one way in which Frontpage reads addresses of others. Poller and enrich use the same class.

For every hop of every fetch, in this order: the address is judged (`fetch_addresses`), robots.txt is asked
(`fetch_robots`), the budgets of domain and host are drawn from (`fetch_budget`), one request is made whose time, size
and encodings are bounded (`fetch_body`). A server's Retry-After holds its host for everyone.

Any HTTP status is an answer and comes back as `Fetched`; `FetchRefused` is what we must not fetch and `FetchFailed`
what did not answer properly, each with a machine-readable cause. Not here: when to fetch (`domain/schedule.py`),
retries (their caller knows its deadline), cookies (none), JavaScript (none).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self

import aiohttp
from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from yarl import URL

from frontpage.adapters.fetch_addresses import Gate
from frontpage.adapters.fetch_body import ACCEPT_ENCODING, read_body
from frontpage.adapters.fetch_budget import PER_HOST, RATE, Budget
from frontpage.adapters.fetch_robots import RobotsCache
from frontpage.domain.freshness import retry_after
from frontpage.domain.hosts import registrable_domain
from frontpage.errors import FetchFailed, FetchRefused

if TYPE_CHECKING:
    import redis

    from frontpage.adapters.clock import Clock

Kind = Literal["feed", "page", "image", "robots", "form"]

#: Bytes. Feeds: the largest real feed known to us has 3 MiB. robots.txt: RFC 9309 asks for at least 500 KiB.
LIMITS: Final[dict[Kind, int]] = {
    "feed": 8 << 20,
    "page": 4 << 20,
    "image": 4 << 20,
    "robots": 512 << 10,
    "form": 64 << 10,
}
ACCEPT: Final[dict[Kind, str]] = {
    "feed": "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5",
    "page": "text/html, application/xhtml+xml, */*;q=0.5",
    "image": "image/jpeg, image/png, image/webp, image/*;q=0.5",
    "robots": "text/plain, */*;q=0.5",
    "form": "*/*",
}
#: RFC 9309 asks for five redirects at least; browsers follow 20, but no feed needs more than these.
MAX_REDIRECTS: Final = 5
PERMANENT: Final = frozenset({301, 308})
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
#: The product token that robots.txt files name.
PRODUCT: Final = "FrontpageBot"
#: Virtual seconds that a fetch may wait for its budgets; a schedule has better things to do than to wait longer.
PATIENCE: Final = 30.0
#: A 429 or 503 without Retry-After holds its host this long (virtual seconds).
UNSAID_HOLD: Final = 60.0
#: Connections of one process; 350 polls a second at 0.3 s each need about 100.
CONNECTIONS: Final = 200
#: Real seconds for which a connection waits for its next use: redirects and the next page of a host come within these,
#: its next poll does not, and a poller meets a new host 350 times a second.
IDLE_CONNECTION: Final = 3.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer. `url` is the last hop's; headers have lower-case names (repeated ones joined by ", ").

    moved_to: the last hop's address when every redirect on the way was permanent, else None.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    moved_to: str | None = None
    hops: tuple[str, ...] = field(default=())


class Fetcher(Protocol):
    """What poller and enrich need; `FetchTier` here, `FakeFetcher` in tests/fakes."""

    async def get(self, url: str, *, kind: Kind, headers: Mapping[str, str] | None = None) -> Fetched:
        """Fetch `url`. Raises FetchRefused (never retry), FetchFailed (retry later), ServiceUnavailable (Redis)."""


def user_agent(contact: str) -> str:
    """`FrontpageBot/1.0 (+contact)`: who we are and how to reach the operator."""
    readable = "".join(c for c in contact if c.isprintable() and c.isascii() and c not in "()")
    return f"{PRODUCT}/1.0 (+{readable})"


class FetchTier:
    """One aiohttp session with all rules. Make it inside a running loop; `async with` closes it.

    `timeout` is in real seconds, for one hop with its body: a server that drips bytes ends there.
    """

    def __init__(
        self,
        gate: Gate,
        budget: Budget,
        clock: Clock,
        *,
        store: redis.Redis | None = None,
        contact: str,
        timeout: float = 20.0,
        robots: bool = True,
    ) -> None:
        self._gate = gate
        self._budget = budget
        self._clock = clock
        self._timeout = timeout
        self._robots = RobotsCache(store, PRODUCT, self._load_robots) if robots else None
        self._session = ClientSession(
            connector=TCPConnector(
                resolver=gate,
                socket_factory=gate.dial,
                limit=CONNECTIONS,
                limit_per_host=PER_HOST,
                keepalive_timeout=IDLE_CONNECTION,
                ttl_dns_cache=60,
            ),
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=ClientTimeout(total=timeout, connect=min(10.0, timeout)),
            headers={"User-Agent": user_agent(contact), "Accept-Encoding": ACCEPT_ENCODING},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections, when their slots are given back."""
        await self._budget.settle()
        await self._session.close()

    async def get(self, url: str, *, kind: Kind, headers: Mapping[str, str] | None = None) -> Fetched:
        """See `Fetcher`."""
        return await self._get(url, kind, headers, self._robots)

    async def post(self, url: str, form: Mapping[str, str]) -> Fetched:
        """Send a form to a program that asked for it, such as a hub; the same gate, budgets, limits and errors.

        robots.txt is for crawlers and is not asked. Redirects that keep the method are followed (307, 308); any
        other one comes back as the answer.
        """
        for _ in range(MAX_REDIRECTS + 1):
            admitted, dialled = self._gate.admit(url)
            answer = await self._hop(admitted, dialled, "form", None, RATE, form=form)
            location = answer.headers.get("location")
            if answer.status not in (307, 308) or not location:
                return Fetched(str(admitted), answer.status, answer.headers, answer.body)
            try:
                url = str(admitted.join(URL(location)))
            except ValueError:
                raise FetchRefused("redirected to what is no address", cause="bad-url") from None
        raise FetchRefused(f"more than {MAX_REDIRECTS} redirects", cause="redirects")

    async def _get(
        self, raw: str, kind: Kind, headers: Mapping[str, str] | None, robots: RobotsCache | None
    ) -> Fetched:
        hops: list[str] = []
        permanent = True
        while True:
            url, dialled = self._gate.admit(raw)
            rate = RATE
            if robots is not None:
                delay = await robots.check(str(url.origin()), url.raw_path_qs)
                if delay is not None and delay > 0:
                    rate = min(RATE, 1.0 / min(delay, 60.0))
            answer = await self._hop(url, dialled, kind, headers, rate)
            location = answer.headers.get("location")
            if answer.status not in REDIRECTS or not location:
                moved = str(url) if hops and permanent else None
                return Fetched(str(url), answer.status, answer.headers, answer.body, moved, tuple(hops))
            permanent = permanent and answer.status in PERMANENT
            hops.append(str(url))
            if len(hops) > MAX_REDIRECTS:
                raise FetchRefused(f"more than {MAX_REDIRECTS} redirects", cause="redirects")
            try:
                raw = str(url.join(URL(location)))
            except ValueError:
                raise FetchRefused("redirected to what is no address", cause="bad-url") from None

    async def _hop(
        self,
        url: URL,
        dialled: URL,
        kind: Kind,
        headers: Mapping[str, str] | None,
        rate: float,
        *,
        form: Mapping[str, str] | None = None,
    ) -> Fetched:
        host = url.raw_host or ""
        domain = registrable_domain(host)
        slot = await self._budget.acquire(domain, host, patience=PATIENCE, rate=rate)
        try:
            answer = await self._request(dialled, kind, headers, form)
            if answer.status in (429, 503):
                # before the slot is free: the next in line must find the hold
                said = retry_after(answer.headers, self._clock.now())
                await self._budget.hold(domain, host, UNSAID_HOLD if said is None else said)
        finally:
            self._budget.release(slot)
        return answer

    async def _request(
        self, url: URL, kind: Kind, headers: Mapping[str, str] | None, form: Mapping[str, str] | None
    ) -> Fetched:
        try:
            async with self._session.request(
                "GET" if form is None else "POST",
                url,
                data=form,
                headers={"Accept": ACCEPT[kind], **(headers or {})},
                allow_redirects=False,
            ) as response:
                found = _headers(response)
                body = b""
                if 200 <= response.status < 300:
                    length = response.content_length
                    if length is not None and length > LIMITS[kind]:
                        response.close()
                        raise FetchFailed(f"body of {length} bytes announced", cause="too-large")
                    try:
                        body = await read_body(
                            response.content.iter_chunked(1 << 16), found.get("content-encoding", ""), LIMITS[kind]
                        )
                    except FetchFailed:
                        response.close()
                        raise
                elif response.status not in (304, *REDIRECTS):
                    response.close()  # an error page is not worth its bytes
                return Fetched(str(url), response.status, found, body)
        except TimeoutError:
            raise FetchFailed(f"no whole answer within {self._timeout:g} s", cause="timeout") from None
        except aiohttp.ClientPayloadError as error:
            raise FetchFailed(f"the body was cut off: {error}"[:200], cause="truncated") from None
        except aiohttp.ClientConnectorDNSError as error:
            raise FetchFailed(f"no address: {error}"[:200], cause="dns") from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise FetchFailed(f"its certificate is not valid: {error}"[:200], cause="tls") from None
        except aiohttp.ClientSSLError as error:
            raise FetchFailed(f"no TLS connection: {error}"[:200], cause="tls") from None
        except aiohttp.ClientOSError as error:
            raise FetchFailed(f"no connection: {error}"[:200], cause="connect") from None
        except (aiohttp.ClientError, ValueError) as error:
            # ValueError: header values and addresses that aiohttp refuses to write
            raise FetchFailed(f"not HTTP: {type(error).__name__}: {error}"[:200], cause="protocol") from None

    async def _load_robots(self, url: str) -> tuple[int, bytes]:
        answer = await self._get(url, "robots", None, None)
        return answer.status, answer.body


def _headers(response: ClientResponse) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined
