"""Feeds in Redis: one row each (source and schedule) and 32 due queues, from which workers claim.

A claim is one Lua call that takes due feeds, moves them a lease ahead and reads their rows: a worker that dies with
them gives them back by doing nothing, and two workers never poll one feed at once. Storing is one call for many rows,
each a compare-and-set on the row as it was claimed (by its hash, so that the old row is not sent back), so that a
boost or a removal in between is kept, not overwritten. A stopped feed (410) stays on file with the due time +inf.

Not here: what a row's bytes are (`feed_codec.py`), what the times should be (`domain/schedule.py`), OPML
(`streaming/ingest/opml.py`).
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters.feed_codec import FeedRow, FeedSource
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import FEED, FEEDS_DUE
from frontpage.domain.push import FETCH_GAP
from frontpage.domain.schedule import FeedState, audited, boosted

if TYPE_CHECKING:
    import redis

__all__ = ["PARTITIONS", "FeedRow", "FeedRows", "FeedSource", "due_key"]

log = logging.getLogger(__name__)

#: "partitioned across 32 workers" (personalised-feed document).
PARTITIONS: Final = 32

#: ARGV: now, end of the lease, how many, how many of one queue at first, prefix of the rows' keys. Feeds that are left
#: over by a fair share of every queue are taken in a second round. Returns id, row, id, row ...
_CLAIM: Final = """
local left, share, out = tonumber(ARGV[3]), tonumber(ARGV[4]), {}
for round = 1, 2 do
  for _, queue in ipairs(KEYS) do
    if left <= 0 then return out end
    local due = redis.call('ZRANGEBYSCORE', queue, '-inf', ARGV[1], 'LIMIT', 0, math.min(share, left))
    for _, feed in ipairs(due) do
      redis.call('ZADD', queue, 'XX', ARGV[2], feed)
      out[#out + 1] = feed
      out[#out + 1] = redis.call('GET', ARGV[5] .. feed)
    end
    left = left - #due
  end
  share = left
end
return out
"""
#: The priority lane: a feed that is wanted now is queued as if a day overdue, before everything that is merely due.
PRIORITY: Final = 86_400.0
#: KEYS: row and queue of each feed. ARGV, five for each: id, SHA-1 of the row as it was read, the new row, its due
#: time, and a moment or nothing: with it the queue moves only when the feed waits in it, for a claimed feed is queued
#: later than that moment and stays claimed. Answers: 1 stored, 0 the row has changed, -1 the feed was removed.
_STORE: Final = """
local out = {}
for at = 1, #KEYS / 2 do
  local key, queue, base = KEYS[2 * at - 1], KEYS[2 * at], 5 * (at - 1)
  local feed, waiting = ARGV[base + 1], ARGV[base + 5]
  local row = redis.call('GET', key)
  if not row then
    redis.call('ZREM', queue, feed)
    out[at] = -1
  elseif redis.sha1hex(row) ~= ARGV[base + 2] then
    out[at] = 0
  else
    redis.call('SET', key, ARGV[base + 3])
    local score = waiting ~= '' and redis.call('ZSCORE', queue, feed)
    if not score or tonumber(score) <= tonumber(waiting) then redis.call('ZADD', queue, ARGV[base + 4], feed) end
    out[at] = 1
  end
end
return out
"""
#: Rows stored in one call: Lua's stack and Redis's other readers both want bounds (about 10 ms).
_STORED_AT_ONCE: Final = 256


class FeedRows:
    """All methods raise ServiceUnavailable (StoreFull) when Redis does not serve."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._claim = store.register_script(_CLAIM)
        self._set = store.register_script(_STORE)
        self._turn = 0

    def put(self, row: FeedRow) -> None:
        """Add a feed or replace it."""
        feed = row.source.feed_id
        with store_errors():
            pipe = self._store.pipeline()
            pipe.set(FEED.key(feed=feed), row.encode())
            pipe.zadd(due_key(feed), {feed: _due(row.state)})
            pipe.execute()

    def get(self, feed_id: str) -> FeedRow | None:
        """One feed, or None."""
        return next(self.get_many([feed_id]), None)

    def get_many(self, feed_ids: Sequence[str]) -> Iterator[FeedRow]:
        """The feeds that exist, in the order asked. A row that cannot be read is logged and left out: it must stop
        no other feed, and adding the feed again mends it.
        """
        if not feed_ids:
            return
        with store_errors():
            values: list[Any] = self._store.mget([FEED.key(feed=feed) for feed in feed_ids])
        for feed, value in zip(feed_ids, values, strict=True):
            if value is not None and (row := _readable(feed, value)) is not None:
                yield row

    def remove(self, feed_id: str) -> bool:
        """Forget a feed; False when there was none."""
        with store_errors():
            pipe = self._store.pipeline()
            pipe.delete(FEED.key(feed=feed_id))
            pipe.zrem(due_key(feed_id), feed_id)
            return bool(pipe.execute()[0])

    def ids(self) -> list[str]:
        """Of every feed, queue by queue, the next due first."""
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for partition in range(PARTITIONS):
                pipe.zrange(FEEDS_DUE.key(partition=partition), 0, -1)
            return [member.decode() for members in pipe.execute() for member in members]

    def all(self) -> Iterator[FeedRow]:
        """Every feed, queue by queue, the next due first."""
        for partition in range(PARTITIONS):
            with store_errors():
                members: list[Any] = self._store.zrange(FEEDS_DUE.key(partition=partition), 0, -1)
            ids = [member.decode() for member in members]
            for start in range(0, len(ids), 500):
                yield from self.get_many(ids[start : start + 500])

    def claim(self, now: float, limit: int, lease: float) -> list[FeedRow]:
        """Up to `limit` due feeds (spread over the queues), not due again for `lease` virtual seconds."""
        # each call begins with another queue: a limit below their number would always leave out the same ones
        self._turn = (self._turn + 1) % PARTITIONS
        queues = [FEEDS_DUE.key(partition=(self._turn + n) % PARTITIONS) for n in range(PARTITIONS)]
        share = max(1, math.ceil(limit / PARTITIONS))
        with store_errors():
            found: list[Any] = self._claim(
                keys=queues, args=[repr(now), repr(now + lease), limit, share, FEED.key(feed="")]
            )
        pairs = zip(found[::2], found[1::2], strict=True)
        rows = (_readable(feed.decode(), value) for feed, value in pairs if value is not None)
        return [row for row in rows if row is not None]

    def store(self, rows: Iterable[FeedRow]) -> None:
        """Write the states of claimed rows. A row that changed meanwhile keeps its change and takes the new state."""
        rows = list(rows)
        while rows:
            outcomes = self._swap([(row, None) for row in rows])
            rows = [row for row, outcome in zip(rows, outcomes, strict=True) if outcome == 0]
            rows = [merged for row in rows if (merged := self._merged(row)) is not None]

    def boost(
        self, feed_id: str, until: float | None, now: float, *, why: str = "boost", gap: float = FETCH_GAP
    ) -> bool:
        """Poll this feed now and often until `until`; False when there is no such feed.

        A feed that is being polled stays claimed: what was asked for meanwhile is polled when that poll is stored.
        """
        return self._change(feed_id, lambda state: boosted(state, until, now, why=why, gap=gap), now)

    def lease(self, feed_id: str, until: float | None) -> bool:
        """Note the end of a feed's WebSub lease (None: there is none any more); False when there is no such feed."""
        return self._change(feed_id, lambda state: replace(state, lease_until=until, unannounced=0), -math.inf)

    def audited(self, feed_id: str, share: float, now: float) -> bool:
        """Note what the audit saw: which share of the interval items waited; False when there is no such feed."""
        return self._change(feed_id, lambda state: audited(state, share, now), -math.inf)

    def _change(self, feed_id: str, change: Callable[[FeedState], FeedState], now: float) -> bool:
        while (row := self.get(feed_id)) is not None:
            after = change(row.state)
            waiting = None if after.next_at != row.state.next_at else now
            if self._swap([(replace(row, state=after), waiting)])[0] != 0:
                return True
        return False

    def _swap(self, rows: Sequence[tuple[FeedRow, float | None]]) -> list[int]:
        outcomes: list[int] = []
        for start in range(0, len(rows), _STORED_AT_ONCE):
            keys: list[str] = []
            args: list[str | bytes] = []
            for row, waiting in rows[start : start + _STORED_AT_ONCE]:
                feed = row.source.feed_id
                keys += [FEED.key(feed=feed), due_key(feed)]
                read = hashlib.sha1(row.raw, usedforsecurity=False).hexdigest()
                until = "" if waiting is None else repr(waiting)
                args += [feed, read, row.encode(), repr(_due(row.state)), until]
            with store_errors():
                outcomes += [int(outcome) for outcome in self._set(keys=keys, args=args)]
        return outcomes

    def next_due(self) -> float | None:
        """The earliest due time of all queues (virtual seconds), None without feeds."""
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for partition in range(PARTITIONS):
                pipe.zrange(FEEDS_DUE.key(partition=partition), 0, 0, withscores=True)
            return min((float(first[0][1]) for first in pipe.execute() if first), default=None)

    def _merged(self, row: FeedRow) -> FeedRow | None:
        """The row of a finished poll over what was written while it ran: boosts, requests and leases are kept."""
        fresh = self.get(row.source.feed_id)
        if fresh is None:
            return None
        now, then = row.state, fresh.state
        merged = replace(
            now,
            boost_until=max(now.boost_until or 0.0, then.boost_until or 0.0) or None,
            lease_until=then.lease_until,
        )
        claimed = FeedRow.decode(row.raw).state if row.raw else now
        asked = then.wanted_at is not None and then.wanted_at != claimed.wanted_at
        again = asked or merged.boost_until != now.boost_until
        if again and now.next_at is not None and then.next_at is not None and not now.errors:
            # the poll that just ended may have been too early for what is asked: once more, at its due distance
            soonest = max(then.wanted_at or 0.0, (now.last_at or 0.0) + FETCH_GAP if now.last_at else 0.0)
            merged = replace(
                merged, next_at=min(now.next_at, soonest), wanted_at=then.wanted_at, wanted_by=then.wanted_by
            )
        return FeedRow(fresh.source, merged, fresh.raw, row.items)


def due_key(feed_id: str) -> str:
    """The queue of a feed: its id is a digest, so any of its digits spread evenly."""
    return FEEDS_DUE.key(partition=int(feed_id[-4:], 16) % PARTITIONS)


def _due(state: FeedState) -> float:
    if state.next_at is None:
        return math.inf
    wanted = state.wanted_at is not None and state.next_at <= state.wanted_at
    return state.next_at - PRIORITY if wanted else state.next_at


def _readable(feed: str, value: bytes) -> FeedRow | None:
    try:
        return FeedRow.decode(value)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        log.error("feed %s has a damaged row: %.200s", feed, error)
        return None
