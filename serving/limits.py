"""How many requests one client may make: a token bucket per client, in memory, per process.

Not a defence against floods (that is the edge's work); it keeps one broken client from taking everyone's turn.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

#: Clients remembered; the least recent is forgotten first, which only ever gives a client a fresh bucket.
CLIENTS: Final = 50_000


class RateLimiter:
    """`rate` requests a second sustained, `burst` at once. Rate 0 means no limit."""

    def __init__(self, rate: float, burst: int, clients: int = CLIENTS) -> None:
        self._rate, self._burst, self._clients = rate, float(burst), clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float) -> float:
        """0.0 when allowed, else seconds until the next request would be. `now` is monotonic real seconds."""
        if self._rate <= 0:
            return 0.0
        tokens, since = self._buckets.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - since) * self._rate)
        allowed = tokens >= 1.0
        self._buckets[client] = (tokens - 1.0 if allowed else tokens, now)
        if len(self._buckets) > self._clients:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1.0 - tokens) / self._rate
