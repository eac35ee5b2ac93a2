"""WebSub subscriptions and publishers' ping keys in Redis.

Two processes write a subscription: the subscriber (requests) and the push receiver (the hub's answers). Each change is
a compare-and-set on the row as it was read, with the decision (`domain/websub.py`) taken again when it lost, so that a
verification that arrives while its request is still being written is neither lost nor undone. A subscription's row,
its place in the queue and the feed's pointer to it change in one script.

Not here: decisions, HTTP.
"""

from __future__ import annotations

import json
import logging
import math
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import PUSH_KEY, PUSH_PING, WEBSUB, WEBSUB_DUE, WEBSUB_FEED
from frontpage.domain import websub
from frontpage.domain.websub import Subscription

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Bytes of randomness in a subscription's id (its callback's only protection), in its secret and in a ping key.
ID_BYTES: Final = 24
SECRET_BYTES: Final = 32

#: KEYS row, due queue, feed pointer; ARGV id, row as read ('' for none), new row ('' deletes), due time
_SWAP: Final = """
local row = redis.call('GET', KEYS[1]) or ''
if row ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
  if redis.call('GET', KEYS[3]) == ARGV[1] then redis.call('DEL', KEYS[3]) end
  return 1
end
if ARGV[2] == '' then
  if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
  redis.call('SET', KEYS[3], ARGV[1])
end
redis.call('SET', KEYS[1], ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
return 1
"""
_CLAIM: Final = """
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, id in ipairs(due) do redis.call('ZADD', KEYS[1], 'XX', ARGV[3], id) end
return due
"""
#: KEYS row, due queue, feed pointer; ARGV id
_FORGET: Final = """
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('GET', KEYS[3]) == ARGV[1] then redis.call('DEL', KEYS[3]) end
return 1
"""
_PING: Final = """
local last = redis.call('GET', KEYS[1])
if last and tonumber(last) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A subscription with the exact value it was read from."""

    subscription: Subscription
    raw: bytes


class PushRows:
    """All methods raise ServiceUnavailable (StoreFull) when Redis does not serve."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._swap_script = store.register_script(_SWAP)
        self._claim_script = store.register_script(_CLAIM)
        self._ping_script = store.register_script(_PING)
        self._forget_script = store.register_script(_FORGET)

    # Subscriptions.

    def get(self, id: str) -> Stored | None:
        """One subscription, or None."""
        with store_errors():
            raw: Any = self._store.get(WEBSUB.key(subscription=id))
        found = None if raw is None else _readable(id, raw)
        return None if found is None else Stored(found, raw)

    def of_feed(self, feed_id: str) -> Subscription | None:
        """The feed's subscription, or None. What is left of one whose row is lost or damaged goes: while it stood, the
        feed could have no other.
        """
        with store_errors():
            raw: Any = self._store.get(WEBSUB_FEED.key(feed=feed_id))
        if raw is None:
            return None
        id = raw.decode()
        stored = self.get(id)
        if stored is None:
            keys = [WEBSUB.key(subscription=id), WEBSUB_DUE.key(), WEBSUB_FEED.key(feed=feed_id)]
            with store_errors():
                self._forget_script(keys=keys, args=[id])
        return stored.subscription if stored else None

    def begin(self, feed_id: str, *, hub: str, topic: str, now: float) -> Subscription | None:
        """A new subscription with an unguessable id and secret, due now; None when the feed has one already."""
        made = websub.new(
            secrets.token_urlsafe(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES), feed_id, hub=hub, topic=topic, now=now
        )
        return made if self._swap(made, b"", made) else None

    def change(self, id: str, decide: Callable[[Subscription], Subscription | None]) -> Subscription | None:
        """Apply a decision to the row as it is now; None when there is no row or the decision says no.

        A result without a next time is the end: row and pointer are removed.
        """
        while (stored := self.get(id)) is not None:
            after = decide(stored.subscription)
            if after is None or after == stored.subscription or self._swap(stored.subscription, stored.raw, after):
                return after
        return None

    def release(self, subscription: Subscription) -> None:
        """The feed may begin another subscription while this one is still being ended."""
        with store_errors():
            self._store.delete(WEBSUB_FEED.key(feed=subscription.feed_id))

    def claim(self, now: float, limit: int, lease: float) -> list[Subscription]:
        """Up to `limit` due subscriptions, not due for others for `lease` virtual seconds.

        One whose row is lost or damaged leaves the queue; `of_feed` clears up the rest.
        """
        with store_errors():
            due: Any = self._claim_script(keys=[WEBSUB_DUE.key()], args=[repr(now), limit, repr(now + lease)])
            rows: Any = self._store.mget([WEBSUB.key(subscription=id.decode()) for id in due]) if due else []
        found = [None if raw is None else _readable(id.decode(), raw) for id, raw in zip(due, rows, strict=True)]
        lost = [id for id, subscription in zip(due, found, strict=True) if subscription is None]
        if lost:
            with store_errors():
                self._store.zrem(WEBSUB_DUE.key(), *lost)
        return [subscription for subscription in found if subscription is not None]

    def count(self) -> int:
        """Subscriptions on file."""
        with store_errors():
            return int(self._store.zcard(WEBSUB_DUE.key()))

    def _swap(self, before: Subscription, raw: bytes, after: Subscription) -> bool:
        finished = after.next_at is None
        with store_errors():
            return bool(
                self._swap_script(
                    keys=[
                        WEBSUB.key(subscription=before.id),
                        WEBSUB_DUE.key(),
                        WEBSUB_FEED.key(feed=before.feed_id),
                    ],
                    args=[
                        before.id,
                        raw,
                        b"" if finished else _encode(after),
                        repr(math.inf if after.next_at is None else after.next_at),
                    ],
                )
            )

    # Pings.

    def ping_key(self, publisher_id: str) -> str | None:
        """The publisher's key, or None."""
        with store_errors():
            raw: Any = self._store.get(PUSH_KEY.key(publisher=publisher_id))
        return None if raw is None else raw.decode()

    def put_ping_keys(self, keys: Mapping[str, str]) -> None:
        """{publisher id: key}."""
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for publisher, key in keys.items():
                pipe.set(PUSH_KEY.key(publisher=publisher), key)
            pipe.execute()

    def new_ping_key(self, publisher_id: str) -> str:
        """Give the publisher a new key; the old one is refused from now on."""
        key = secrets.token_urlsafe(SECRET_BYTES)
        self.put_ping_keys({publisher_id: key})
        return key

    def revoke_ping_key(self, publisher_id: str) -> bool:
        """Refuse the publisher's pings; False when there was no key."""
        with store_errors():
            return bool(self._store.delete(PUSH_KEY.key(publisher=publisher_id)))

    def last_ping(self, feed_id: str) -> float | None:
        """The time that the feed's latest genuine ping states."""
        with store_errors():
            raw: Any = self._store.get(PUSH_PING.key(feed=feed_id))
        return None if raw is None else float(raw)

    def take_ping(self, feed_id: str, stamp: float) -> bool:
        """Note a ping's time; False when one as late was there before (then this is a replay)."""
        with store_errors():
            return bool(
                self._ping_script(keys=[PUSH_PING.key(feed=feed_id)], args=[repr(stamp), PUSH_PING.ttl or 3_600])
            )


def _encode(subscription: Subscription) -> bytes:
    return json.dumps(asdict(subscription), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _readable(id: str, raw: bytes) -> Subscription | None:
    """The row's subscription; None when it is damaged, which must stop no other."""
    try:
        return _decode(raw)
    except (ValueError, TypeError, AttributeError) as error:
        log.error("subscription %s has a damaged row: %.200s", id[:6], error)
        return None


def _decode(raw: bytes) -> Subscription:
    known = {field.name for field in fields(Subscription)}
    return Subscription(**{name: value for name, value in json.loads(raw).items() if name in known})
