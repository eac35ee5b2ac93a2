"""The conditional write that gives an article its identity: new, update, duplicate or repeat, decided once in Redis.

One hash per article (key: hash of the canonical URL) and one index from a publisher's text to the article that had it
first, so that the same text under another address is a duplicate. The decision is one Lua call, whoever asks.

Between this write and the commit of the event in Kafka a process may die. The row therefore remembers each version as
*pending*, with its hashes, until `confirm` is called after the commit; an offer of a pending version is a `repeat`:
the event is written again, with the same version and the same first-seen time, and consumers drop what they have.

`first_seen_at` is set once and never moves. Versions count up from 1. A late or older rendition (`modified_at` before
the stored one) changes nothing. Rows live a week, longer than the 48 h window;
`restore` writes them back from Delta.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import ARTICLE, CONTENT
from frontpage.domain.ids import digest

if TYPE_CHECKING:
    import redis

Verdict = Literal["new", "update", "duplicate", "repeat"]

# KEYS: article row, content index ("" when the text is too short to be anybody's own)
# ARGV: article id, hashes "content:title", content hash, title hash, seen_at, modified_at, from_feed, ttl
_OFFER: Final = """
local row = KEYS[1]
local kept = redis.call('HMGET', row, 'version', 'first_seen_at', 'hashes', 'content', 'title', 'modified_at',
                        'from_feed')
local version = tonumber(kept[1])
local function expire()
  redis.call('EXPIRE', row, ARGV[8])
  if KEYS[2] ~= '' then redis.call('EXPIRE', KEYS[2], ARGV[8]) end
end
if not version then
  if KEYS[2] ~= '' then
    local first = redis.call('GET', KEYS[2])
    if first and first ~= ARGV[1] then return {'duplicate', '0', ARGV[5], first} end
    redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[8])
  end
  redis.call('HSET', row, 'version', 1, 'first_seen_at', ARGV[5], 'hashes', ARGV[2], 'content', ARGV[3],
             'title', ARGV[4], 'modified_at', ARGV[6], 'from_feed', ARGV[7], 'pending:1', ARGV[2])
  expire()
  return {'new', '1', ARGV[5], ''}
end
expire()
local pending = redis.call('HGETALL', row)
for i = 1, #pending, 2 do
  if string.sub(pending[i], 1, 8) == 'pending:' and pending[i + 1] == ARGV[2] then
    return {'repeat', string.sub(pending[i], 9), kept[2], ''}
  end
end
local stated, stored = tonumber(ARGV[6]), tonumber(kept[6])
local same = kept[3] == ARGV[2]
local older = stated and stored and stated < stored
-- the feed's few words do not replace what was read from the page, unless the headline was corrected
local poorer = ARGV[7] == '1' and kept[7] == '0' and kept[5] == ARGV[4]
if same or older or poorer then return {'duplicate', tostring(version), kept[2], ARGV[1]} end
version = version + 1
redis.call('HSET', row, 'version', version, 'hashes', ARGV[2], 'content', ARGV[3], 'title', ARGV[4],
           'modified_at', ARGV[6], 'from_feed', ARGV[7], 'pending:' .. version, ARGV[2])
if KEYS[2] ~= '' then redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[8], 'NX') end
return {'update', tostring(version), kept[2], ''}
"""

_RESTORE: Final = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'first_seen_at', ARGV[5], 'hashes', ARGV[3] .. ':' .. ARGV[4],
           'content', ARGV[3], 'title', ARGV[4], 'modified_at', ARGV[6], 'from_feed', ARGV[7])
redis.call('EXPIRE', KEYS[1], ARGV[8])
if KEYS[2] ~= '' then redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[8], 'NX') end
return 1
"""


@dataclass(frozen=True, slots=True)
class Offer:
    """A rendition of an article that we hold in memory. Times are virtual seconds.

    content_hash: of the normalised text. own_text: False when the text is too short or too common to identify.
    """

    article_id: str
    publisher_id: str
    content_hash: str
    title_hash: str
    seen_at: float
    modified_at: float | None = None
    from_feed: bool = False
    own_text: bool = True


@dataclass(frozen=True, slots=True)
class Ruling:
    """What to do with an offer. `duplicate_of`: the article that stands for it (itself when nothing changed)."""

    verdict: Verdict
    version: int
    first_seen_at: float
    duplicate_of: str | None = None

    @property
    def speaks(self) -> bool:
        """Whether an event is to be written."""
        return self.verdict != "duplicate"


class ArticleRows:
    """All methods raise ServiceUnavailable (StoreFull) when Redis does not serve."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._offer = store.register_script(_OFFER)
        self._restore = store.register_script(_RESTORE)

    def offer(self, offers: Sequence[Offer]) -> list[Ruling]:
        """One ruling per offer, taken in order (an earlier offer of the batch counts for a later one)."""
        return [
            Ruling(kind.decode(), int(version), float(first_seen), same_as.decode() or None)
            for kind, version, first_seen, same_as in self._run(self._offer, [_arguments(o) for o in offers])
        ]

    def confirm(self, versions: Iterable[tuple[str, int]]) -> None:
        """These (article id, version) are known to be in Kafka. Harmless to repeat."""
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for article, version in versions:
                pipe.hdel(ARTICLE.key(article=article), f"pending:{version}")
            pipe.execute()

    def restore(self, offers: Sequence[tuple[Offer, int]]) -> int:
        """Write rows back from the lake, (offer, version) each; existing rows win. The number written."""
        arguments = []
        for offer, version in offers:
            keys, args = _arguments(offer)
            arguments.append((keys, [args[0], version, *args[2:]]))
        return sum(self._run(self._restore, arguments))

    def _run(self, script: Any, calls: list[tuple[list[str], list[Any]]]) -> list[Any]:
        if not calls:
            return []
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for keys, args in calls:
                script(keys=keys, args=args, client=pipe)
            return list(pipe.execute())


def _arguments(offer: Offer) -> tuple[list[str], list[Any]]:
    # the same text of another publisher is a copy, a question for stories, not a duplicate
    own = digest(f"{offer.publisher_id}|{offer.content_hash}") if offer.own_text else ""
    keys = [ARTICLE.key(article=offer.article_id), CONTENT.key(hash=own) if own else ""]
    return keys, [
        offer.article_id,
        f"{offer.content_hash}:{offer.title_hash}",
        offer.content_hash,
        offer.title_hash,
        repr(offer.seen_at),
        "" if offer.modified_at is None else repr(offer.modified_at),
        int(offer.from_feed),
        ARTICLE.ttl,
    ]
