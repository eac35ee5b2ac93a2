"""Redis (Valkey) as every process uses it: one way to connect, one error mapping, leases with fencing numbers.

Keys are spelt only in `frontpage/contracts/views.py`; what is stored under them belongs to its owner's module.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from frontpage.contracts.views import FENCE, LEASE
from frontpage.errors import ServiceUnavailable, StoreFull

#: Real seconds. A command that takes longer means a lost server: ours answer in well under a millisecond.
COMMAND_TIMEOUT: Final = 10.0
CONNECT_TIMEOUT: Final = 3.0


def open_redis(url: str) -> redis.Redis:
    """A pooled client that answers bytes; connects at its first command and reconnects by itself."""
    return redis.Redis.from_url(
        url,
        socket_timeout=COMMAND_TIMEOUT,
        socket_connect_timeout=CONNECT_TIMEOUT,
        health_check_interval=15,
        retry=Retry(ExponentialBackoff(cap=1.0, base=0.05), 3),
    )


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Map redis-py's errors to ours: StoreFull when Redis refuses writes for memory, else ServiceUnavailable."""
    try:
        yield
    except redis.exceptions.OutOfMemoryError as error:
        raise StoreFull(f"Redis is full, raise FRONTPAGE_REDIS_MAX_MEMORY or free space: {error}") from error
    except redis.exceptions.ReadOnlyError as error:
        raise ServiceUnavailable(f"Redis refuses writes: {error}") from error
    except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError) as error:
        raise ServiceUnavailable(f"Redis does not answer: {error}") from error
    except redis.exceptions.ResponseError as error:
        if str(error).startswith(("MISCONF", "LOADING", "OOM")):
            raise StoreFull(f"Redis refuses writes: {error}") from error
        raise


_ACQUIRE: Final = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local fence = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], fence .. ':' .. ARGV[1], 'EX', ARGV[2])
return fence
"""
_RENEW: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return 0
"""
_RELEASE: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class Lease:
    """The right to be the only one of `name`, for 6 real seconds after each `acquire` or `renew`.

    `fence` is a number that grows with every new holder. The lease alone does not make its holder the only writer (a
    paused process may wake up late): the transactional id does, and writes that bypass Kafka carry `fence`.
    """

    def __init__(self, store: redis.Redis, name: str, holder: str) -> None:
        self._store = store
        self._keys = (LEASE.key(name=name), FENCE.key(name=name))
        self._holder = holder
        self._ttl = LEASE.ttl or 6
        self.fence: int | None = None

    def acquire(self) -> bool:
        """Take the lease if nobody has it. Raises ServiceUnavailable when Redis does not answer."""
        with store_errors():
            fence = int(self._store.eval(_ACQUIRE, 2, *self._keys, self._holder, self._ttl))
        self.fence = fence or None
        return self.fence is not None

    def renew(self) -> bool:
        """Keep it for another 6 s; False when it was lost (then stop writing). Call every 2 s or so."""
        if self.fence is None:
            return False
        with store_errors():
            kept = self._store.eval(_RENEW, 1, self._keys[0], self._value(), str(self._ttl))
        if not kept:
            self.fence = None
        return bool(kept)

    def release(self) -> None:
        """Give it back so that a standby need not wait. Harmless when it is not ours."""
        if self.fence is not None:
            with contextlib.suppress(redis.exceptions.RedisError):
                self._store.eval(_RELEASE, 1, self._keys[0], self._value())
            self.fence = None

    def _value(self) -> str:
        return f"{self.fence}:{self._holder}"
