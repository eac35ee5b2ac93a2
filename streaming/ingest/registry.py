"""The registry of feeds and publishers: adding, removing, importing lists. Used by the CLI and by the demo.

An import never resets what is already polled: a feed that exists keeps its schedule and validators, and only what the
list says of it (title, folder) is taken over. New feeds are spread over the first minutes, not polled in one second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, Protocol
from urllib.parse import urlsplit

from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource
from frontpage.adapters.push_rows import PushRows
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import PUBLISHER, PUBLISHERS, Publisher
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.ids import feed_id
from frontpage.domain.schedule import FeedState, spread
from frontpage.domain.urls import clean_link
from frontpage.errors import NotFound, UnreadableInput
from streaming.ingest.opml import Outline, read_opml, write_opml
from streaming.ingest.publishers import newcomer, read_publishers

if TYPE_CHECKING:
    import redis

#: From this authority on a feed gets the short floor ("1 minute for authoritative sources, 5 for the long tail").
AUTHORITATIVE: Final = 0.5
#: New feeds are first polled within so many virtual seconds per feed, five minutes at most: about 10 a second.
SPREAD_PER_FEED: Final = 0.1
LONGEST_SPREAD: Final = 300.0
#: As `frontpage.domain.ids.feed_id` makes them.
_FEED_ID: Final = re.compile(r"f[0-9a-f]{16}")


@dataclass(slots=True)
class ImportReport:
    """What an import did; `skipped` gives address and cause."""

    added: int = 0
    known: int = 0
    publishers: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NewFeed:
    """A feed to add. `publisher_id` None: the owner of its domain, or a newcomer."""

    url: str
    publisher_id: str | None = None
    title: str = ""
    language: str | None = None
    kind: Literal["feed", "sitemap"] = "feed"
    authoritative: bool | None = None
    folder: tuple[str, ...] = ()
    site_url: str = ""


class World(Protocol):
    """What `import_world` needs of the sample world (`data_samples`)."""

    def publishers_as_registry(self) -> list[Publisher]:
        """The publishers' rows."""

    def feeds(self) -> list[dict[str, str]]:
        """`{url, publisher_id, kind}` of each feed; kind is rss, atom, json or sitemap."""

    def ping_keys(self) -> dict[str, str]:
        """{publisher id: key} of those that ping us."""


class Registry:
    """All methods raise ServiceUnavailable when Redis does not serve."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._rows = FeedRows(store)

    def put_publishers(self, publishers: Iterable[Publisher]) -> int:
        """Write registry rows; the number written."""
        count = 0
        with store_errors():
            pipe = self._store.pipeline(transaction=False)
            for publisher in publishers:
                pipe.set(PUBLISHER.key(publisher=publisher.publisher_id), publisher.model_dump_json())
                pipe.sadd(PUBLISHERS.key(), publisher.publisher_id)
                count += 1
            pipe.execute()
        return count

    def add(self, feeds: Iterable[NewFeed], now: float) -> ImportReport:
        """Add feeds (and newcomers as publishers)."""
        report = ImportReport()
        wanted = list(feeds)
        owners = {domain: row for row in read_publishers(self._store) for domain in row.domains}
        known = {row.publisher_id: row for row in owners.values()}
        with_main = {row.source.publisher_id for row in self._rows.all() if row.source.main}
        window = min(LONGEST_SPREAD, SPREAD_PER_FEED * len(wanted))
        for feed in wanted:
            url, cause = clean_link(feed.url)
            if url is None:
                report.skipped.append((feed.url[:300], cause or "bad-url"))
                continue
            host = urlsplit(url).hostname or ""
            domain = registrable_domain(host)
            publisher = known.get(feed.publisher_id or "") or owners.get(host) or owners.get(domain)
            if publisher is None:
                publisher = newcomer(domain)
                owners[domain] = known[publisher.publisher_id] = publisher
                report.publishers += self.put_publishers([publisher])
            source = FeedSource(
                feed_id=feed_id(url),
                url=url,
                publisher_id=publisher.publisher_id,
                domain=domain,
                title=feed.title,
                language=feed.language,
                kind=feed.kind,
                authoritative=publisher.authority >= AUTHORITATIVE
                if feed.authoritative is None
                else feed.authoritative,
                folder=feed.folder,
                site_url=feed.site_url,
            )
            present = self._rows.get(source.feed_id)
            if present is not None:
                source = replace(source, main=present.source.main)
            elif publisher.publisher_id not in with_main and feed.kind == "feed":
                source = replace(source, main=True)
                with_main.add(publisher.publisher_id)
            if present is None:
                first = now + window * spread(source.feed_id, 0.0)
                self._rows.put(FeedRow(source, FeedState(next_at=first)))
                report.added += 1
            else:
                self._rows.store([replace(present, source=source)])
                report.known += 1
        return report

    def list(self) -> Iterator[FeedRow]:
        """All feeds with their schedule."""
        return self._rows.all()

    def remove(self, url: str) -> None:
        """Forget the feed with this address or id; raises NotFound."""
        named = url if _FEED_ID.fullmatch(url) else feed_id(clean_link(url)[0] or url)
        if not self._rows.remove(named):
            raise NotFound(f"no feed {url[:300]}")

    def import_opml(self, body: bytes, now: float) -> ImportReport:
        """Add the feeds of a list. Raises UnreadableInput."""
        return self.add((_new_feed(outline) for outline in read_opml(body)), now)

    def export_opml(self) -> bytes:
        """All feeds as OPML. Raises UnreadableInput when there is none: an empty list is no backup."""
        sources = [row.source for row in self.list()]
        if not sources:
            raise UnreadableInput("there is no feed to export", cause="no-feeds")
        return write_opml(sources)


def import_world(world: World, store: redis.Redis, now: float) -> ImportReport:
    """Register the sample world's publishers and feeds; `now` is the virtual time at which polling starts."""
    registry = Registry(store)
    written = registry.put_publishers(world.publishers_as_registry())
    PushRows(store).put_ping_keys(world.ping_keys())
    report = registry.add(
        (
            NewFeed(feed["url"], feed["publisher_id"], kind="sitemap" if feed["kind"] == "sitemap" else "feed")
            for feed in world.feeds()
        ),
        now,
    )
    report.publishers += written
    return report


def _new_feed(outline: Outline) -> NewFeed:
    return NewFeed(
        url=outline.url,
        publisher_id=outline.publisher_id,
        title=outline.title,
        language=outline.language,
        kind="sitemap" if outline.kind == "sitemap" else "feed",
        authoritative=outline.authoritative or None,
        folder=outline.folder,
        site_url=outline.site_url,
    )
