"""Feeds in Redis: one JSON row each (source and schedule) and 32 due queues, from which workers claim.

A claim is one Lua call that takes due feeds and moves them a lease ahead: a worker that dies with them gives them back
by doing nothing, and two workers never poll one feed at once. Storing is a compare-and-set on the row as it was
claimed, so that a boost or a removal in between is kept, not overwritten. A stopped feed (410) stays on file with
the due time +inf.

Not here: what the times should be (`domain/schedule.py`), OPML (`streaming/ingest/opml.py`).
"""

from __future__ import annotations

import dataclasses
import json
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import FEED, FEEDS_DUE
from frontpage.domain.push import FETCH_GAP
from frontpage.domain.schedule import FeedState, boosted

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: "partitioned across 32 workers" (personalised-feed document).
PARTITIONS: Final = 32

_CLAIM: Final = """
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, feed in ipairs(due) do redis.call('ZADD', KEYS[1], 'XX', ARGV[3], feed) end
return due
"""
#: The priority lane: a feed that is wanted now is queued as if a day overdue, before everything that is merely due.
PRIORITY: Final = 86_400.0
#: 1 stored, 0 the row has changed, -1 the feed was removed. With a fifth argument the queue moves
#: only when the feed waits in it: a claimed feed is queued later than that time, and stays claimed.
_STORE: Final = """
local row = redis.call('GET', KEYS[1])
if not row then redis.call('ZREM', KEYS[2], ARGV[1]); return -1 end
if row ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[3])
local score = redis.call('ZSCORE', KEYS[2], ARGV[1])
if ARGV[5] == '' or not score or tonumber(score) <= tonumber(ARGV[5]) then
  redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
end
return 1
"""


@dataclass(frozen=True, slots=True)
class FeedSource:
    """What we were told of a feed. `folder` is its OPML place, outermost first.

    main: the publisher's first feed, through which its news is found. Floors and ceilings: see `schedule.Policy`.
    """

    feed_id: str
    url: str
    publisher_id: str
    domain: str
    title: str = ""
    language: str | None = None
    kind: Literal["feed", "sitemap"] = "feed"
    authoritative: bool = False
    main: bool = False
    folder: tuple[str, ...] = ()
    site_url: str = ""


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A feed as stored; `raw` is the exact value it was read from (empty for a new one)."""

    source: FeedSource
    state: FeedState
    raw: bytes = b""

    def encode(self) -> bytes:
        """JSON; only what differs from the defaults, so that 200,000 rows stay small."""
        fields = {"source": _spoken(self.source), "state": _spoken(self.state)}
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    @classmethod
    def decode(cls, raw: bytes) -> FeedRow:
        """Inverse of `encode`. Unknown fields are dropped (a newer version wrote them)."""
        fields = json.loads(raw)
        source, state = fields["source"], fields["state"]
        source["folder"] = tuple(source.get("folder", ()))
        state["guids"] = tuple(state.get("guids", ()))
        state["rate"] = {int(hour): count for hour, count in state.get("rate", {}).items()}
        return cls(FeedSource(**_known(FeedSource, source)), FeedState(**_known(FeedState, state)), raw)


class FeedRows:
    """All methods raise ServiceUnavailable (StoreFull) when Redis does not serve."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._claim = store.register_script(_CLAIM)
        self._set = store.register_script(_STORE)

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
            if value is not None:
                try:
                    row = FeedRow.decode(value)
                except (ValueError, TypeError, KeyError, AttributeError) as error:
                    log.error("feed %s has a damaged row: %.200s", feed, error)
                    continue
                yield row

    def remove(self, feed_id: str) -> bool:
        """Forget a feed; False when there was none."""
        with store_errors():
            pipe = self._store.pipeline()
            pipe.delete(FEED.key(feed=feed_id))
            pipe.zrem(due_key(feed_id), feed_id)
            return bool(pipe.execute()[0])

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
        share = max(1, math.ceil(limit / PARTITIONS))
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for partition in range(PARTITIONS):
                self._claim(
                    keys=[FEEDS_DUE.key(partition=partition)], args=[repr(now), share, repr(now + lease)], client=pipe
                )
            claimed = [feed.decode() for due in pipe.execute() for feed in due]
        return list(self.get_many(claimed))

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

    def _change(self, feed_id: str, change: Callable[[FeedState], FeedState], now: float) -> bool:
        while (row := self.get(feed_id)) is not None:
            after = change(row.state)
            waiting = None if after.next_at != row.state.next_at else now
            if self._swap([(replace(row, state=after), waiting)])[0] != 0:
                return True
        return False

    def _swap(self, rows: Sequence[tuple[FeedRow, float | None]]) -> list[int]:
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for row, waiting in rows:
                feed = row.source.feed_id
                self._set(
                    keys=[FEED.key(feed=feed), due_key(feed)],
                    args=[feed, row.raw, row.encode(), repr(_due(row.state)), "" if waiting is None else repr(waiting)],
                    client=pipe,
                )
            return [int(outcome) for outcome in pipe.execute()]

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
        return FeedRow(fresh.source, merged, fresh.raw)


def due_key(feed_id: str) -> str:
    """The queue of a feed: its id is a digest, so any of its digits spread evenly."""
    return FEEDS_DUE.key(partition=int(feed_id[-4:], 16) % PARTITIONS)


def _due(state: FeedState) -> float:
    if state.next_at is None:
        return math.inf
    wanted = state.wanted_at is not None and state.next_at <= state.wanted_at
    return state.next_at - PRIORITY if wanted else state.next_at


def _spoken(row: FeedSource | FeedState) -> dict[str, Any]:
    spoken = {}
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        if value != default:
            spoken[field.name] = value
    return spoken


def _known(kind: type[FeedSource] | type[FeedState], fields: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: value for name, value in fields.items() if name in names}
