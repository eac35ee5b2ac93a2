"""What happens around every request: rate limit, security headers, counting. Plain ASGI, so that it costs little."""

from __future__ import annotations

import math
import time
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.problems import ProblemError, respond
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


class Around:
    """The middleware."""

    def __init__(self, app: ASGIApp, serving: Serving) -> None:
        self._app, self._serving = app, serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        path: str = scope["path"]
        route = _route(path)
        metrics = self._serving.metrics

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
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
        await self._app(scope, receive, with_headers)

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


def _route(path: str) -> str:
    for prefix in _ROUTES:
        if path.startswith(prefix):
            return prefix.rstrip("/")
    return "other" if path.startswith("/v1/") else "page"
