"""Holding a lease: wait for it as a standby, renew it every 1.5 real seconds, and say at once when it is lost.

The lease itself (Lua, 6 s, fencing numbers) is `redis_store.Lease`. It only decides who tries; who may write is
decided by Kafka: the holder opens the transactional producer of its name, which fences every earlier one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from frontpage.adapters.redis_store import Lease
from frontpage.errors import Fenced, ServiceUnavailable

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Real seconds. Three renewals fit into a lease of 6 s, so one lost packet does not cost it; and 6 s leave a standby
#: time to open its producer and read the end of the log before 10 s have passed (design).
RENEW_EVERY: Final = 1.5
#: A standby asks this often: failover takes at most the lease and this.
ASK_EVERY: Final = 0.5
#: Stop using a lease this long after the last renewal that succeeded: a second before the server forgets it.
SAFE_FOR: Final = 5.0


class HeldLease:
    """A lease that renews itself on a thread while held. Use `wait`, then `check` before each decision is written."""

    def __init__(self, store: redis.Redis, name: str, holder: str) -> None:
        self._name = name
        self._lease = Lease(store, name, holder)
        self._renewed_at = float("-inf")
        self._released = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def fence(self) -> int | None:
        """The fencing number, None while the lease is not ours."""
        return self._lease.fence

    def wait(self, stop: threading.Event, standing_by: Callable[[], None] | None = None) -> bool:
        """Block until the lease is ours (True) or `stop` is set (False). A Redis that is away is waited for.

        `standing_by` is called every half second meanwhile (heartbeats).
        """
        while not stop.is_set():
            if standing_by is not None:
                standing_by()
            asked = time.monotonic()
            try:
                if self._lease.acquire():
                    self._renewed_at = asked
                    self._start()
                    return True
            except ServiceUnavailable as error:
                log.warning("lease %s: %s", self._name, error)
            stop.wait(ASK_EVERY)
        return False

    def check(self) -> None:
        """Raise Fenced unless the lease is surely ours for another second."""
        if self._lease.fence is None or time.monotonic() - self._renewed_at > SAFE_FOR:
            raise Fenced(f"the lease {self._name} was lost or not renewed in time")

    def release(self) -> None:
        """Give it back; a standby takes over at once. Harmless when it is not ours."""
        self._released.set()
        if self._thread is not None:
            self._thread.join(timeout=RENEW_EVERY)
            self._thread = None
        self._lease.release()

    def _start(self) -> None:
        self._released.clear()
        self._thread = threading.Thread(target=self._keep, name=f"lease-{self._name}", daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        while not self._released.wait(RENEW_EVERY):
            asked = time.monotonic()
            try:
                if not self._lease.renew():
                    log.warning("lease %s lost", self._name)
                    return
                self._renewed_at = asked
            except ServiceUnavailable as error:
                log.warning("lease %s not renewed: %s", self._name, error)
