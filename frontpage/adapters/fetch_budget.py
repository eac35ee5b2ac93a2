"""Politeness shared by all workers: a token bucket per registrable domain, one or two connections per host, holds.

The state is one Redis hash per domain and one Lua script that checks and takes at once, so that poller and enrich
workers on any machine draw from the same budget. Tokens and holds are in virtual time (an accelerated replay gets
an accelerated budget); connection slots are leases in real time, so that a worker that died gives its slots back.
A hold is a server's Retry-After: it belongs to the host and stops all its feeds and pages.

What is asked within a few milliseconds is one script call from a thread: the loop never waits for Redis, and a round
trip is shared by all polls of that time. Connections are given back the same way, without waiting.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import BUDGET
from frontpage.errors import FetchFailed

if TYPE_CHECKING:
    import redis

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

#: Real seconds for which calls are gathered: little beside a fetch, and 350 polls a second then need some 45 round
#: trips instead of 700.
GATHER: Final = 0.02
#: Calls in one script: Redis serves others in between.
AT_ONCE: Final = 256

#: ARGV: a slot's lease in ms, connections of a host; then six for each key: verb, host, token, and for `acquire` now,
#: rate and burst, for `hold` its end and the key's expiry. Answers of each: verdict (0 granted, 1 the host is held, 2
#: it is busy, 3 no token) and the wait in virtual seconds.
_CALLS: Final = """
local time = redis.call('TIME')
local real = time[1] * 1000 + math.floor(time[2] / 1000)
local lease, most, out = tonumber(ARGV[1]), tonumber(ARGV[2]), {}

local function acquire(key, host, token, said, rate, burst)
  local now = tonumber(said)
  local row = redis.call('HGETALL', key)
  local tokens, at, hold, open = burst, now, 0, 0
  local mine = 'open:' .. host .. ':'
  for i = 1, #row, 2 do
    local name, value = row[i], tonumber(row[i + 1])
    if name == 'tokens' then tokens = value
    elseif name == 'at' then at = value
    elseif name == 'hold:' .. host then hold = value
    elseif string.sub(name, 1, 5) == 'open:' then
      if value < real then redis.call('HDEL', key, name)
      elseif string.sub(name, 1, #mine) == mine then open = open + 1 end
    end
  end
  -- a hold beyond a day is from a clock that has since been set back
  if hold > now and hold - now <= 86400 then return 1, hold - now end
  if open >= most then return 2, 0 end
  if at > now then at = now end
  tokens = math.min(burst, tokens + (now - at) * rate)
  if tokens < 1 then return 3, (1 - tokens) / rate end
  redis.call('HSET', key, 'tokens', tostring(tokens - 1), 'at', said, mine .. token, real + lease)
  if redis.call('TTL', key) < 600 then redis.call('EXPIRE', key, 600) end
  return 0, 0
end

for at, key in ipairs(KEYS) do
  local base = 2 + 6 * (at - 1)
  local verb, host, token = ARGV[base + 1], ARGV[base + 2], ARGV[base + 3]
  local verdict, wait = 0, 0
  if verb == 'acquire' then
    verdict, wait = acquire(key, host, token, ARGV[base + 4], tonumber(ARGV[base + 5]), tonumber(ARGV[base + 6]))
  elseif verb == 'release' then
    redis.call('HDEL', key, 'open:' .. host .. ':' .. token)
  else
    redis.call('HSET', key, 'hold:' .. host, ARGV[base + 4])
    if redis.call('TTL', key) < tonumber(ARGV[base + 5]) then redis.call('EXPIRE', key, ARGV[base + 5]) end
  end
  out[2 * at - 1] = verdict
  out[2 * at] = tostring(wait)
end
return out
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

    def release(self, slot: Slot) -> None:
        """Give the connection back, soon; never raises and never waits."""

    async def settle(self) -> None:
        """Return when what was given back is known to all; never raises. Before the end of a process."""

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
            burst = BURST if rate >= RATE else 1.0
            verdict, seconds = await self._calls.run(
                BUDGET.key(domain=slot.domain), ("acquire", slot.host, slot.token, repr(now), rate, burst)
            )
            if verdict == 0:
                return slot
            if verdict == 1:
                raise FetchFailed(f"{slot.host} asked us to wait", cause="host-held", retry_after=seconds)
            if waited + seconds > patience or time.monotonic() > busy_until:
                raise FetchFailed(f"the budget of {slot.domain} is used up", cause="budget", retry_after=seconds)
            waited += seconds
            await asyncio.sleep(BUSY_WAIT if verdict == 2 else self._clock.real_seconds(seconds))

    def release(self, slot: Slot) -> None:
        """See `Budget`. A lost release is harmless: the slot is a lease."""
        self._leave(slot.host)
        self._calls.post(BUDGET.key(domain=slot.domain), ("release", slot.host, slot.token, "", "", ""))

    async def settle(self) -> None:
        """See `Budget`."""
        await self._calls.settle()

    async def hold(self, domain: str, host: str, seconds: float) -> None:
        """See `Budget`; at most a day."""
        seconds = min(seconds, 86_400.0)
        until = repr(self._clock.now() + seconds)
        ttl = int(self._clock.real_seconds(seconds)) + 600
        await self._calls.run(BUDGET.key(domain=domain), ("hold", host, "", until, ttl, ""))

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

    def release(self, slot: Slot) -> None:
        """Nothing to give back."""

    async def settle(self) -> None:
        """Nothing on its way."""

    async def hold(self, domain: str, host: str, seconds: float) -> None:
        """Nobody to tell."""


#: One call: its key, its arguments, and who waits for the answer.
_Call = tuple[str, tuple[Any, ...], "asyncio.Future[tuple[int, float]] | None"]


class _Batched:
    """Calls of a few milliseconds as one script call in a thread, in the order in which they were made."""

    def __init__(self, store: redis.Redis) -> None:
        self._script = store.register_script(_CALLS)
        self._waiting: list[_Call] = []
        self._flight: asyncio.Task[None] | None = None

    async def run(self, key: str, args: tuple[Any, ...]) -> tuple[int, float]:
        """The verdict and the wait. Raises ServiceUnavailable."""
        future: asyncio.Future[tuple[int, float]] = asyncio.get_running_loop().create_future()
        self._enqueue((key, args, future))
        return await future

    def post(self, key: str, args: tuple[Any, ...]) -> None:
        """A call whose answer nobody needs."""
        self._enqueue((key, args, None))

    async def settle(self) -> None:
        """Until nothing waits."""
        while self._flight is not None and not self._flight.done():
            await asyncio.wait([self._flight])

    def _enqueue(self, call: _Call) -> None:
        self._waiting.append(call)
        if self._flight is None or self._flight.done():
            self._flight = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            if len(self._waiting) < AT_ONCE:
                await asyncio.sleep(GATHER)
            batch, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            answers: list[Any]
            try:
                answers = await asyncio.to_thread(self._execute, batch)
            except Exception as error:  # noqa: BLE001 - handed to each waiter, who knows what to do
                answers = [error] * len(batch)
            for (*_, future), answer in zip(batch, answers, strict=True):
                if future is None or future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)

    def _execute(self, calls: list[_Call]) -> list[tuple[int, float]]:
        keys = [key for key, _, _ in calls]
        args = [SLOT_MS, PER_HOST, *(arg for _, args, _ in calls for arg in args)]
        with store_errors():
            found: list[Any] = self._script(keys=keys, args=args)
        return [(int(verdict), float(wait)) for verdict, wait in zip(found[::2], found[1::2], strict=True)]
