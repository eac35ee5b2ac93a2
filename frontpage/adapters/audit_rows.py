"""Audited feeds in Redis: one row each and one queue, from which pollers claim as they claim feeds.

A claim moves a feed a lease ahead, so that a poller that dies with it gives it back by doing nothing. The queue's
members are the sample; a row outlives its place in it by a week at most. Not here: what is measured
(`domain/audit.py`).
"""

from __future__ import annotations

import dataclasses
import json
import logging
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import AUDIT, AUDIT_DUE, AUDIT_WEEK
from frontpage.domain.audit import Watch
from frontpage.domain.schedule import FeedState

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: No look is planned further ahead than two days (a back-off is one at most): what is was planned by a clock that has
#: since been set back.
_CLAIM: Final = """
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
if #due == 0 then
  due = redis.call('ZRANGEBYSCORE', KEYS[1], tonumber(ARGV[1]) + 172800, '(inf', 'LIMIT', 0, ARGV[2])
end
for _, feed in ipairs(due) do redis.call('ZADD', KEYS[1], 'XX', ARGV[3], feed) end
return due
"""
#: One poller draws the sample of a week: KEYS week and queue; ARGV week, then score and feed of each.
_DRAW: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return 0 end
redis.call('DEL', KEYS[2])
for at = 2, #ARGV, 2 do redis.call('ZADD', KEYS[2], ARGV[at], ARGV[at + 1]) end
redis.call('SET', KEYS[1], ARGV[1])
return 1
"""


class AuditRows:
    """All methods raise ServiceUnavailable when Redis does not serve."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._claim = store.register_script(_CLAIM)
        self._draw = store.register_script(_DRAW)

    def drawn(self) -> str | None:
        """Which sample is audited, as `draw` was told; None before the first."""
        with store_errors():
            raw: Any = self._store.get(AUDIT_WEEK.key())
        return None if raw is None else raw.decode()

    def draw(self, name: str, due: Mapping[str, float]) -> bool:
        """Audit these feeds from their times on, and no others; False when another poller has drawn that sample."""
        scores = [part for feed, at in due.items() for part in (repr(at), feed)]
        with store_errors():
            return bool(self._draw(keys=[AUDIT_WEEK.key(), AUDIT_DUE.key()], args=[name, *scores]))

    def claim(self, now: float, limit: int, lease: float) -> list[Watch]:
        """Up to `limit` feeds to look at now, nobody else's for `lease` virtual seconds."""
        with store_errors():
            due: Any = self._claim(keys=[AUDIT_DUE.key()], args=[repr(now), limit, repr(now + lease)])
        names = [feed.decode() for feed in due]
        known = {watch.feed_id: watch for watch in self._read(names)}
        return [known.get(feed) or Watch(feed, FeedState()) for feed in names]

    def store(self, watch: Watch) -> None:
        """Write a watch with its next look (none: 410, it is never due again)."""
        at = math.inf if watch.state.next_at is None else watch.state.next_at
        fields = json.dumps(dataclasses.asdict(watch), separators=(",", ":"))
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            pipe.set(AUDIT.key(feed=watch.feed_id), fields, ex=AUDIT.ttl)
            pipe.zadd(AUDIT_DUE.key(), {watch.feed_id: at}, xx=True)
            pipe.execute()

    def later(self, feed_id: str, at: float) -> None:
        """Look at this feed then."""
        with store_errors():
            self._store.zadd(AUDIT_DUE.key(), {feed_id: at}, xx=True)

    def drop(self, feed_id: str) -> None:
        """Audit this feed no longer."""
        with store_errors():
            self._store.zrem(AUDIT_DUE.key(), feed_id)

    def all(self) -> list[Watch]:
        """The watches of the present sample that have looked."""
        with store_errors():
            members: Any = self._store.zrange(AUDIT_DUE.key(), 0, -1)
        return list(self._read([member.decode() for member in members]))

    def _read(self, feed_ids: list[str]) -> Iterator[Watch]:
        if not feed_ids:
            return
        with store_errors():
            values: Any = self._store.mget([AUDIT.key(feed=feed) for feed in feed_ids])
        for feed, value in zip(feed_ids, values, strict=True):
            try:
                if value is not None:
                    yield _decode(json.loads(value))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                # a measurement that begins anew; the feed itself is polled as ever
                log.error("audited feed %s has a damaged row: %.200s", feed, error)


def _decode(fields: dict[str, Any]) -> Watch:
    known = {one.name for one in dataclasses.fields(FeedState)}
    state = {name: value for name, value in fields["state"].items() if name in known}
    state["guids"] = tuple(state["guids"])
    state["rate"] = {int(hour): count for hour, count in state["rate"].items()}
    earlier, last = fields["polled"]
    return Watch(**(fields | {"state": FeedState(**state), "polled": (earlier, last)}))
