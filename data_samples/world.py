"""The sample world: made-up publishers, events, articles, readers and clicks of 48 hours, with the truth about them.

    world = build(seed=1)                     # the same world for the same seed, in a few seconds
    world.publishers_as_registry()            # rows for Frontpage's publisher registry
    world.feeds()                             # what to poll: [{"url", "publisher_id", "kind"}]
    world.truth()                             # event, copy_of, kind, language of each article; tastes of each reader
    world.articles_for_cluster("en")          # rows for `frontpage cluster`, with the truth in `story` and `copy_of`

All texts are our own, written by the grammar in `grammar.py` from `texts/`; hosts end in `.example`; people,
companies and what happens are invented, towns are real so that places can be recognised. Pure: no clock, no network,
no global randomness. Serving the world over HTTP is the work of `serve.py`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final

from data_samples import specials
from data_samples.coverage import Coverage
from data_samples.desk import Desk
from data_samples.events import HOUR, deal_events
from data_samples.model import Article, Click, Event, Publisher, Reader
from data_samples.publishers import WIRE_NAME, build_publishers
from data_samples.readers import browse, build_readers
from data_samples.render import iso
from data_samples.sites import feeds_of, ping_key, push_of
from frontpage.contracts.views import Publisher as RegistryRow

#: 2026-03-03T00:00:00Z, a Tuesday.
START: Final = 1_772_496_000.0
SPAN: Final = 48 * HOUR
#: When the burst begins by default, hours after the start.
BURST_AT: Final = 46.5


@dataclass(frozen=True)
class World:
    """Everything, in deterministic order: articles by time of publication, events by time."""

    seed: int
    start: float
    span: float
    burst_at: float
    publishers: list[Publisher]
    events: list[Event]
    articles: list[Article]
    readers: list[Reader]
    clicks: list[Click]
    _by_id: dict[str, Publisher] = field(repr=False, default_factory=dict)

    def publisher(self, id: str) -> Publisher:
        """The publisher of that id; KeyError when there is none."""
        return self._by_id[id]

    @property
    def burst_event(self) -> str:
        """Id of the English event that breaks at `burst_at`."""
        return "en-burst"

    def truth(self) -> dict[str, Any]:
        """`{"articles": {id: {...}}, "events": {id: {...}}, "readers": {id: tastes}}`, JSON-ready."""
        articles = {
            a.id: {
                "url": a.url, "event": a.event_id, "touches": list(a.touches), "copy_of": a.copy_of, "kind": a.kind,
                "form": a.form, "language": a.language, "section": a.section, "publisher": a.publisher_id,
                "place": a.place, "paywalled": a.paywalled, "published_at": a.published_at,
                "redated": a.redated, "corrected": a.corrected,
            }
            for a in self.articles
        }  # fmt: skip
        events = {
            e.id: {
                "group": e.group, "kind": e.kind, "section": e.section, "language": e.language, "place": e.place,
                "country": e.country, "starts_at": e.starts_at, "label": e.label,
            }
            for e in self.events
        }  # fmt: skip
        readers = {
            r.id: {
                "edition": r.edition, "sections": r.sections, "places": list(r.places),
                "disliked_publishers": list(r.disliked_publishers), "activity": r.activity,
            }
            for r in self.readers
        }  # fmt: skip
        return {"articles": articles, "events": events, "readers": readers}

    def publishers_as_registry(self) -> list[RegistryRow]:
        """The rows of the publisher registry (`publisher:{id}` in Redis)."""
        return [
            RegistryRow(
                publisher_id=p.id, name=p.name, domains=[p.host], country=p.country, language=p.language,
                authority=p.authority, place=p.place, snippet_allowed=p.snippet_allowed,
                thumb_allowed=p.thumb_allowed, paywalled=p.paywalled, opted_out=p.opted_out, wire=p.wire,
                agencies=[] if p.wire else [WIRE_NAME],
            )
            for p in self.publishers
        ]  # fmt: skip

    def feeds(self) -> list[dict[str, str]]:
        """What to poll: address, publisher and kind (rss, atom, json, sitemap) of every feed."""
        return [
            {"url": feed.url, "publisher_id": p.id, "kind": feed.kind} for p in self.publishers for feed in feeds_of(p)
        ]

    def ping_keys(self) -> dict[str, str]:
        """{publisher id: key} of the sites that ping."""
        return {p.id: ping_key(p) for p in self.publishers if push_of(p) == "ping"}

    def articles_for_cluster(self, language: str | None = None) -> list[dict[str, Any]]:
        """Rows `{id,title,text,url,publisher,lang,published_at}` in order of publication, with the truth added.

        `story` is the event's id, None for round-ups and live blogs, which belong to two; `copy_of` an id or None.
        `published_at` is ISO 8601 in UTC, as `frontpage cluster` reads it.
        """
        return [
            {
                "id": a.id, "title": a.title, "text": a.text, "url": a.url,
                "publisher": self._by_id[a.publisher_id].name, "lang": a.language, "published_at": iso(a.published_at),
                "story": a.event_id, "copy_of": a.copy_of, "form": a.form,
            }
            for a in self.articles
            if language in (None, a.language)
        ]  # fmt: skip

    def digest(self) -> str:
        """SHA-256 over every article, click and publisher: pins that the same seed gives the same world."""
        whole = hashlib.sha256()
        for rows in (self.publishers, self.articles, self.readers, self.clicks):
            for row in rows:
                whole.update(json.dumps(row, default=_plain, ensure_ascii=True, sort_keys=True).encode())
        return whole.hexdigest()


def _plain(value: Any) -> Any:
    return {name: getattr(value, name) for name in value.__slots__}


def build(seed: int = 1, start: float = START, burst_hour: float = BURST_AT) -> World:
    """The world of that seed beginning at `start` (epoch seconds, UTC), its burst `burst_hour` hours later."""
    publishers = build_publishers(seed)
    desk = Desk(seed, publishers, start, SPAN)
    languages = list(dict.fromkeys(p.language for p in publishers))
    coverage = {language: Coverage(seed, desk, language) for language in languages}
    events = deal_events(seed, start, SPAN)
    for event in events:
        coverage[event.language].cover(event)
    burst_at = start + burst_hour * HOUR
    ordinary = {event.id: event for event in events}
    specials.second_thoughts(seed, desk, coverage, ordinary)
    for language in languages:
        mine = [e for e in events if e.language == language and e.section != "local"]
        specials.comment(seed, desk, coverage[language], mine)
    specials.roundups(seed, desk, coverage["en"], [e for e in events if e.language == "en"])
    events += specials.look_alikes(seed, desk, coverage["en"])
    events.append(specials.viral(seed, desk, coverage["en"], start + 30.2 * HOUR))
    events += specials.three_languages(seed, coverage, start + 18.4 * HOUR)
    events += specials.burst(seed, coverage, burst_at)
    readers = build_readers(seed, publishers)
    articles = sorted(desk.articles, key=lambda a: (a.published_at, a.id))
    return World(
        seed=seed, start=start, span=SPAN, burst_at=burst_at, publishers=publishers,
        events=sorted(events, key=lambda e: (e.starts_at, e.id)), articles=articles, readers=readers,
        clicks=browse(seed, readers, articles, start, SPAN), _by_id={p.id: p for p in publishers},
    )  # fmt: skip
