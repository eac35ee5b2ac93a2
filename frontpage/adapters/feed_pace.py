"""Keeps the feeds' queues in step with the clock: `domain/pace.py` over Redis.

`keep` is called with every few claims and costs one look-up. A correction changes each due time only where it is still
what was read, queue by queue, and notes the time last: a poller that dies in between leaves it to the next one, and a
feed that is moved twice is polled once too early, which budgets bound.
"""

from __future__ import annotations

import itertools
import logging
import math
from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters.feed_rows import PARTITIONS
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import FEEDS_CLOCK, FEEDS_DUE
from frontpage.domain import pace

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: ARGV: feed, due time as read, new due time, and so on.
_MOVE: Final = """
local moved = 0
for at = 1, #ARGV, 3 do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[at])
  if score and tonumber(score) == tonumber(ARGV[at + 1]) then
    redis.call('ZADD', KEYS[1], ARGV[at + 2], ARGV[at])
    moved = moved + 1
  end
end
return moved
"""
#: Feeds moved in one call: Redis serves others in between.
AT_ONCE: Final = 1_000


class FeedPace:
    """All methods raise ServiceUnavailable when Redis does not serve."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._move = store.register_script(_MOVE)

    def keep(self, now: float, speed: float) -> int:
        """Correct the queues if the clock jumped since the latest call of any poller; feeds moved."""
        with store_errors():
            raw: Any = self._store.get(FEEDS_CLOCK.key())
        latest = None if raw is None else float(raw)
        happened = pace.turn(latest, now, speed)
        moved = 0
        if latest is not None and happened != "on":
            moved = self._correct(latest, now, back=happened == "set-back")
            log.warning("the clock went from %.0f to %.0f (%s): %d feeds moved", latest, now, happened, moved)
        with store_errors():
            self._store.set(FEEDS_CLOCK.key(), repr(now))
        return moved

    def _correct(self, latest: float, now: float, *, back: bool) -> int:
        queues = [FEEDS_DUE.key(partition=partition) for partition in range(PARTITIONS)]
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for queue in queues:
                pipe.zcount(queue, "-inf", now)
            overdue = sum(int(count) for count in pipe.execute())
        moved = 0
        for number, queue in enumerate(queues):
            with store_errors():
                waiting: Any = self._store.zrange(queue, 0, -1, withscores=True)
            entries = [(feed, at) for feed, at in waiting if at < math.inf]
            due = [at for _, at in entries]
            phase = number / PARTITIONS
            then = pace.moved_back(due, latest, now) if back else pace.spread_out(due, now, overdue, phase)
            changes = [(feed, old, new) for (feed, old), new in zip(entries, then, strict=True) if old != new]
            for start in range(0, len(changes), AT_ONCE):
                some = changes[start : start + AT_ONCE]
                args = itertools.chain.from_iterable((feed, repr(old), repr(new)) for feed, old, new in some)
                with store_errors():
                    moved += int(self._move(keys=[queue], args=list(args)))
        return moved
