"""Politeness shared by all workers: a token bucket per registrable domain, one or two connections per host, holds.

The state is one Redis hash per domain and one Lua script that checks and takes at once, so that poller and enrich
workers on any machine draw from the same budget. Tokens and holds are in virtual time (an accelerated replay gets
an accelerated budget); connection slots are leases in real time, so that a worker that died gives its slots back.
A hold is a server's Retry-After: it belongs to the host and stops all its feeds and pages.

Calls of one turn of the event loop are sent as one pipeline from a thread: the loop never waits for Redis.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import redis

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import BUDGET
from frontpage.errors import FetchFailed, ServiceUnavailable

if TYPE_CHECKING:
    from frontpage.adapters.clock import Clock

#: One request a second and domain in the long run, ten in a row: a front page's worth of new articles.
RATE: Final = 1.0
BURST: Final = 10.0
#: "per-host concurrency of 1-2" (personalised-feed document).
PER_HOST: Final = 2
#: A slot outlives the longest fetch (20 s by default) and returns by itself when its worker died.
SLOT_MS: Final = 60_000
#: While a host is busy: how often to look again, real seconds.
BUSY_WAIT: Final = 0.02
#: How long to wait for a connection, real seconds: a host answers at its own speed, whatever our clock runs at.
BUSY_PATIENCE: Final = 15.0

_ACQUIRE: Final = """
local now, rate, burst, host = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local time = redis.call('TIME')
local real = time[1] * 1000 + math.floor(time[2] / 1000)
local row = redis.call('HGETALL', KEYS[1])
local tokens, at, hold, open = burst, now, 0, 0
local mine = 'open:' .. host .. ':'
for i = 1, #row, 2 do
  local name, value = row[i], tonumber(row[i + 1])
  if name == 'tokens' then tokens = value
  elseif name == 'at' then at = value
  elseif name == 'hold:' .. host then hold = value
  elseif string.sub(name, 1, 5) == 'open:' then
    if value < real then redis.call('HDEL', KEYS[1], name)
    elseif string.sub(name, 1, #mine) == mine then open = open + 1 end
  end
end
-- a hold beyond a day is from a clock that has since been set back
if hold > now and hold - now <= 86400 then return {1, tostring(hold - now)} end
if open >= tonumber(ARGV[5]) then return {2, '0'} end
if at > now then at = now end
tokens = math.min(burst, tokens + (now - at) * rate)
if tokens < 1 then return {3, tostring((1 - tokens) / rate)} end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens - 1), 'at', ARGV[1], mine .. ARGV[6], real + tonumber(ARGV[7]))
if redis.call('TTL', KEYS[1]) < 600 then redis.call('EXPIRE', KEYS[1], 600) end
return {0, '0'}
"""
_RELEASE: Final = "return redis.call('HDEL', KEYS[1], 'open:' .. ARGV[1] .. ':' .. ARGV[2])"
_HOLD: Final = """
redis.call('HSET', KEYS[1], 'hold:' .. ARGV[1], ARGV[2])
if redis.call('TTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
return 1
"""


@dataclass(frozen=True, slots=True)
class Slot:
    """The right to one request, given back by `release`."""

    domain: str
    host: str
    token: str


class Budget(Protocol):
    """What the fetch tier asks before each request. Waits are virtual seconds."""

    async def acquire(self, domain: str, host: str, *, patience: float, rate: float = RATE) -> Slot:
        """A slot, after waiting at most `patience`; raises FetchFailed (`host-held`, `budget`) with `retry_after`."""

    async def release(self, slot: Slot) -> None:
        """Give the connection back; never raises."""

    async def hold(self, domain: str, host: str, seconds: float) -> None:
        """Nobody asks this host again for so long."""


class RedisBudget:
    """The budget of all workers. Raises ServiceUnavailable when Redis does not answer."""

    def __init__(self, store: redis.Redis, clock: Clock) -> None:
        self._clock = clock
        self._calls = _Batched(store)
        self._local: dict[str, tuple[asyncio.Semaphore, int]] = {}

    async def acquire(self, domain: str, host: str, *, patience: float, rate: float = RATE) -> Slot:
        """See `Budget`. Waiters of this process queue here, so that Redis sees one of them at a time and host."""
        gate, users = self._local.get(host, (asyncio.Semaphore(PER_HOST), 0))
        self._local[host] = (gate, users + 1)
        await gate.acquire()
        try:
            return await self._acquire(Slot(domain, host, secrets.token_hex(6)), patience, rate)
        except BaseException:
            self._leave(host)
            raise

    async def _acquire(self, slot: Slot, patience: float, rate: float) -> Slot:
        waited, busy_until = 0.0, time.monotonic() + BUSY_PATIENCE
        while True:
            now = self._clock.now()
            verdict, wait = await self._calls.run(
                _ACQUIRE,
                BUDGET.key(domain=slot.domain),
                (repr(now), rate, BURST if rate >= RATE else 1.0, slot.host, PER_HOST, slot.token, SLOT_MS),
            )
            seconds = float(wait)
            if verdict == 0:
                return slot
            if verdict == 1:
                raise FetchFailed(f"{slot.host} asked us to wait", cause="host-held", retry_after=seconds)
            if waited + seconds > patience or time.monotonic() > busy_until:
                raise FetchFailed(f"the budget of {slot.domain} is used up", cause="budget", retry_after=seconds)
            waited += seconds
            await asyncio.sleep(BUSY_WAIT if verdict == 2 else self._clock.real_seconds(seconds))

    async def release(self, slot: Slot) -> None:
        """See `Budget`. A lost release is harmless: the slot is a lease."""
        self._leave(slot.host)
        try:
            await self._calls.run(_RELEASE, BUDGET.key(domain=slot.domain), (slot.host, slot.token))
        except (ServiceUnavailable, redis.exceptions.RedisError):
            return

    async def hold(self, domain: str, host: str, seconds: float) -> None:
        """See `Budget`; at most a day."""
        seconds = min(seconds, 86_400.0)
        until = repr(self._clock.now() + seconds)
        ttl = int(self._clock.real_seconds(seconds)) + 600
        await self._calls.run(_HOLD, BUDGET.key(domain=domain), (host, until, ttl))

    def _leave(self, host: str) -> None:
        gate, users = self._local[host]
        gate.release()
        if users == 1:
            del self._local[host]
        else:
            self._local[host] = (gate, users - 1)


class NoBudget:
    """For single fetches by hand (`frontpage feeds check`), where no worker runs."""

    async def acquire(self, domain: str, host: str, *, patience: float, rate: float = RATE) -> Slot:
        """Always at once."""
        del patience, rate
        return Slot(domain, host, "")

    async def release(self, slot: Slot) -> None:
        """Nothing to give back."""

    async def hold(self, domain: str, host: str, seconds: float) -> None:
        """Nobody to tell."""


class _Batched:
    """Script calls made during one turn of the event loop, as one pipeline in a thread."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._waiting: list[tuple[str, str, tuple[Any, ...], asyncio.Future[Any]]] = []
        self._flight: asyncio.Task[None] | None = None
        self._hashes: dict[str, str] = {}

    async def run(self, script: str, key: str, args: tuple[Any, ...]) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((script, key, args, future))
        if self._flight is None or self._flight.done():
            self._flight = asyncio.create_task(self._send())
        return await future

    async def _send(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                answers = await asyncio.to_thread(self._execute, [(s, k, a) for s, k, a, _ in batch])
            except Exception as error:  # noqa: BLE001 - handed to each waiter, who knows what to do
                answers = [error] * len(batch)
            for (*_, future), answer in zip(batch, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)

    def _execute(self, calls: list[tuple[str, str, tuple[Any, ...]]]) -> list[Any]:
        with store_errors():
            for script, _, _ in calls:
                if script not in self._hashes:
                    self._hashes[script] = str(self._store.script_load(script))
            try:
                return self._pipeline(calls)
            except redis.exceptions.NoScriptError:  # the server was restarted
                for script in self._hashes:
                    self._store.script_load(script)
                return self._pipeline(calls)

    def _pipeline(self, calls: list[tuple[str, str, tuple[Any, ...]]]) -> list[Any]:
        pipe = self._store.pipeline(transaction=False)
        for script, key, args in calls:
            pipe.evalsha(self._hashes[script], 1, key, *args)
        return list(pipe.execute())
