"""What happens around every request: rate limit, bounded bodies, security headers, counting, unforeseen errors.

Plain ASGI, so that it costs little.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.problems import Handler, ProblemError, respond
from serving.state import Serving

#: Scripts, styles and pictures come from our own address only; nothing is embedded, nothing embeds us.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
SECURITY: Final = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "strict-origin-when-cross-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)
#: Bytes of a body. The largest legal one, 100 events with every character an escaped pair, has about 560 kB.
BODY_LIMIT: Final = 1 << 20
#: Real seconds for a body to arrive: one that drips holds a connection.
BODY_TIME: Final = 10.0
#: The push receiver reads in chunks, within limits of its own.
_UNBOUNDED: Final = "/push/"
_FREE: Final = ("/healthz", "/readyz", "/metrics")
_ROUTES: Final = (
    "/v1/editions",
    "/v1/top",
    "/v1/feed",
    "/v1/me",
    "/v1/stories",
    "/v1/events",
    "/r/",
    "/thumb/",
    "/push/websub/",
    "/push/ping",
    "/static/",
)


_TOO_LARGE: Final = f"at most {BODY_LIMIT} bytes"


class Around:
    """The middleware."""

    def __init__(self, app: ASGIApp, serving: Serving, fail: Handler) -> None:
        self._app, self._serving, self._fail = app, serving, fail

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        path: str = scope["path"]
        route = _route(path)
        metrics = self._serving.metrics
        begun = False

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY:
                    headers.setdefault(name, value)
                metrics.requests.labels(route, str(message["status"])).inc()
                metrics.seconds.labels(route).observe(time.monotonic() - started)
            await send(message)

        wait = 0.0 if path in _FREE else self._serving.limiter.take(self._client(scope), started)
        if wait > 0:
            metrics.limited.inc()
            seconds = str(max(1, math.ceil(wait)))
            problem = ProblemError(429, "too-many-requests", "slow down", headers={"Retry-After": seconds})
            await respond(problem, path)(scope, receive, with_headers)
            return
        if len(path) > 1 and path.endswith("/"):
            # relative, so that neither a made-up Host nor a proxy's plain http decides where it leads
            query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
            await RedirectResponse(f"/{quote(path.strip('/'))}{query}", 307)(scope, receive, with_headers)
            return
        if not path.startswith(_UNBOUNDED):
            length = Headers(scope=scope).get("content-length", "")
            if length.isdigit() and int(length[:12]) > BODY_LIMIT:
                problem = ProblemError(413, "too-large", _TOO_LARGE, headers={"Connection": "close"})
                await respond(problem, path)(scope, receive, with_headers)
                return
            receive = _bounded(receive)
        try:
            await self._app(scope, receive, with_headers)
        except Exception as error:
            if begun:  # half an answer cannot be taken back: the server cuts it off
                raise
            response = await self._fail(Request(scope), error)
            await response(scope, receive, with_headers)

    def _client(self, scope: Scope) -> str:
        """The peer, or behind a trusted proxy the last address that proxies did not add themselves."""
        peer = scope["client"][0] if scope.get("client") else "unknown"
        trusted = self._serving.options.trusted_proxies
        if peer in trusted:
            forwarded = Request(scope).headers.get("x-forwarded-for", "")
            hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
            for hop in reversed(hops):
                if hop not in trusted:
                    return hop[:64]
        return str(peer)


def _bounded(receive: Receive) -> Receive:
    """`receive` that ends a body which is too large or too slow, whatever its length was said to be."""
    size, complete, until = 0, False, float("inf")

    async def bounded() -> Message:
        nonlocal size, complete, until
        if complete:  # what comes now is the news that the client has left, whenever that is
            return await receive()
        until = min(until, time.monotonic() + BODY_TIME)
        try:
            async with asyncio.timeout(until - time.monotonic()):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "the body did not arrive in time", {"Connection": "close"}) from None
        complete = not message.get("more_body", False)
        size += len(message.get("body", b""))
        if size > BODY_LIMIT:
            raise HTTPException(413, _TOO_LARGE, {"Connection": "close"})
        return message

    return bounded


def _route(path: str) -> str:
    for prefix in _ROUTES:
        if path.startswith(prefix):
            return prefix.rstrip("/")
    return "other" if path.startswith("/v1/") else "page"
