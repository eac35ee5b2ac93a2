"""The one clock. Real time by default; an accelerated replay moves it for all processes at once.

Virtual time = virtual epoch + (real now - real epoch) x speed, with the three numbers in the Redis hash
`clock` (see contracts/views.py), re-read every second so that all processes follow a change of speed; `until`, the real
moment at which an accelerated stretch ends, lets them change to real time at the same moment.
Leases, Redis expiry and Kafka retention keep real time: they use `time.monotonic` or the server's clock.
"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

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
        self._real, self._virtual, self._speed, self._until = 0.0, 0.0, 1.0, math.inf

    def now(self) -> float:
        """Virtual seconds since 1970-01-01 UTC."""
        self._follow()
        now = time.time()
        return self._virtual + (now - self._real) * self._speed if now < self._until else self._after(now)

    def real_seconds(self, virtual_seconds: float) -> float:
        """`virtual_seconds` over the present speed, at least a millisecond."""
        self._follow()
        speed = self._speed if time.time() < self._until else 1.0
        return max(0.001, virtual_seconds / speed)

    def _after(self, now: float) -> float:
        return self._virtual + (self._until - self._real) * self._speed + (now - self._until)

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
            self._until = fields.get("until", math.inf)
        else:
            self._real, self._virtual, self._speed, self._until = 0.0, 0.0, 1.0, math.inf


def real_left(clock: Clock, since: float, interval: float) -> float:
    """Real seconds, at the present speed, until `interval` virtual seconds after `since`; 0 when they have passed.

    To be asked again while waiting: a replay may speed up meanwhile, or set the clock back (then nothing is left).
    """
    left = interval - (clock.now() - since)
    return clock.real_seconds(left) if 0.0 < left <= interval else 0.0


def set_clock(store: redis.Redis, *, virtual: float, speed: float, until: float | None = None) -> None:
    """Make virtual time `virtual` from this moment on, running `speed` times as fast as real time.

    With `until` (virtual) it runs at that speed up to there and in real time from then on: in all processes at the
    same moment, whereas a later `set_clock` is seen up to a second late, and a second can be an hour of replay.
    """
    real = time.time()
    row: dict[Any, Any] = {"real": real, "virtual": virtual, "speed": speed}
    if until is not None:
        row["until"] = real + (until - virtual) / speed
    pipe = store.pipeline()
    pipe.delete(CLOCK.pattern)
    pipe.hset(CLOCK.pattern, mapping=row)
    pipe.execute()
