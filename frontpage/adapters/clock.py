"""The one clock. Real time by default; an accelerated replay moves it for all processes at once.

Virtual time = virtual epoch + (real now - real epoch) x speed, with the three numbers in the Redis hash
`clock` (see contracts/views.py), re-read every second so that all processes follow a change of speed.
Leases, Redis expiry and Kafka retention keep real time: they use `time.monotonic` or the server's clock.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol

from frontpage.contracts.views import CLOCK

if TYPE_CHECKING:
    import redis


class Clock(Protocol):
    """Passed to every process; the domain gets `now` as a number."""

    def now(self) -> float:
        """Virtual seconds since 1970-01-01 UTC."""

    def real_seconds(self, virtual_seconds: float) -> float:
        """How long to wait in real time for that much virtual time."""


class SystemClock:
    """Real time."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        return time.time()

    def real_seconds(self, virtual_seconds: float) -> float:
        """The same number."""
        return virtual_seconds


class ReplayClock:
    """Follows the clock row in Redis; falls back to real time while there is none."""

    def __init__(self, store: redis.Redis, refresh: float = 1.0) -> None:
        self._store = store
        self._refresh = refresh
        self._read_at = float("-inf")
        self._following = threading.Lock()
        self._real, self._virtual, self._speed = 0.0, 0.0, 1.0

    def now(self) -> float:
        """Virtual seconds since 1970-01-01 UTC."""
        self._follow()
        return self._virtual + (time.time() - self._real) * self._speed

    def real_seconds(self, virtual_seconds: float) -> float:
        """`virtual_seconds` over the present speed, at least a millisecond."""
        self._follow()
        return max(0.001, virtual_seconds / self._speed)

    def _follow(self) -> None:
        if time.monotonic() - self._read_at < self._refresh:
            return
        with self._following:  # a second thread must not tell the time before the first has read the row
            if time.monotonic() - self._read_at >= self._refresh:
                self._read()
                self._read_at = time.monotonic()

    def _read(self) -> None:
        try:
            row = self._store.hgetall(CLOCK.pattern)
        except Exception:  # noqa: BLE001 - a lost Redis must not stop the clock: go on at the last known speed
            return
        if row:
            fields = {k.decode(): float(v) for k, v in row.items()}  # type: ignore[union-attr]
            self._real, self._virtual, self._speed = fields["real"], fields["virtual"], fields["speed"]
        else:
            self._real, self._virtual, self._speed = 0.0, 0.0, 1.0


def set_clock(store: redis.Redis, *, virtual: float, speed: float) -> None:
    """Make virtual time `virtual` from this moment on, running `speed` times as fast as real time."""
    store.hset(CLOCK.pattern, mapping={"real": time.time(), "virtual": virtual, "speed": speed})
