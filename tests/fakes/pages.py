"""A small made-up news day, written into a real Redis as the ranker, the story store and the registry would.

For serving's tests only: pages, pools, story rows (an alias, copies, opinion, a fact-check, another language),
publishers with licence flags, thumbnails. `Day(store, now)` writes it; `publish` writes one more page version.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import numpy as np
import redis
from PIL import Image, ImageDraw

from frontpage.contracts.events import ArticleCard
from frontpage.contracts.vectors import Vector
from frontpage.contracts.views import (
    PAGE,
    PAGE_LATEST,
    PAGES_CHANNEL,
    POOL,
    PUBLISHER,
    PUBLISHERS,
    STORY,
    THUMB,
    CandidatePool,
    PageCard,
    PageSnapshot,
    PoolEntry,
    Publisher,
    StoryMember,
    StoryRow,
)
from frontpage.domain.ids import article_id

PROJECTION = "minilm-l6-v2@1/gauss64@1"
PAPERS = (
    ("harbour-post", "The Harbour Post", "US", 0.8, None), ("northern-wire", "Northern Wire", "US", 0.9, None),
    ("valley-herald", "Valley Herald", "US", 0.5, "Elm Valley"), ("capital-ledger", "Capital Ledger", "US", 0.7, None),
    ("daily-meridian", "Daily Meridian", "GB", 0.75, None), ("science-desk", "The Science Desk", "GB", 0.7, None),
    ("sport-stage", "Sport Stage", "US", 0.4, None), ("market-lens", "Market Lens", "US", 0.65, None),
    ("green-atlas", "Green Atlas", "US", 0.55, None), ("city-lantern", "City Lantern", "US", 0.45, "Port Alder"),
)  # fmt: skip
#: (section, topic, headline, snippet, place)
EVENTS = (
    ("world", "earthquakes", "Strong earthquake shakes the Tessaly coast, rescue teams reach first villages",
     "A quake of magnitude 6.8 struck before dawn. Harbour walls held, but roads to three villages are cut.", "Tessaly"),
    ("politics", "budget", "Senate leaders agree on outline of a two-year budget after night session",
     "The compromise trims defence growth and keeps the child allowance. A vote is planned for Thursday.", "Washington"),
    ("business", "chipmakers", "Chipmaker Orvane raises outlook as orders for data centres double",
     "Shares rose nine per cent after the company said supply would stay tight into next year.", ""),
    ("science", "space", "Probe sends first pictures from beneath the clouds of Venus",
     "The lander survived for 71 minutes, twice as long as planned, and drilled one sample.", ""),
    ("technology", "open-source", "Volunteers rebuild a hospital's records system in eleven days",
     "After an attack took the old system down, three hundred programmers wrote a replacement in the open.", "Port Alder"),
    ("health", "vaccines", "Single-dose malaria vaccine halves cases in a trial of 12,000 children",
     "Protection lasted two seasons. Regulators in four countries have asked for the data.", ""),
    ("sports", "cycling", "Underdog wins the mountain stage after a solo ride of ninety kilometres",
     "She attacked on the second climb and was never seen again by the favourites.", ""),
    ("climate", "rivers", "Three states sign a pact to leave more water in the Corran river",
     "Farms will be paid to let fields rest in dry years. Cities promise to cut use by a fifth.", "Elm Valley"),
    ("entertainment", "film", "A silent film lost for a century turns up in a barn in Elm Valley",
     "Archivists found eleven of twelve reels in good order. A first screening is set for spring.", "Elm Valley"),
    ("nation", "rail", "Night trains return to the coast line after twenty years",
     "Sleeper cars sold out within an hour of the announcement.", "Port Alder"),
)  # fmt: skip


def unit(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).standard_normal(64).astype(np.float32)
    return vector / np.linalg.norm(vector)


def thumb(at: int) -> bytes:
    """A small JPEG: hills under a sky, coloured by `at`."""
    hue = np.random.default_rng(at).integers(40, 200, 6)
    image = Image.new("RGB", (320, 200), (int(hue[0]), int(hue[1]), 200))
    draw = ImageDraw.Draw(image)
    draw.ellipse((220, 24, 270, 74), fill=(250, 235, 190))
    draw.polygon(
        [(0, 200), (0, 120), (90, 70), (190, 150), (320, 90), (320, 200)], fill=(int(hue[2]), int(hue[3]), 110)
    )
    draw.polygon(
        [(0, 200), (0, 165), (120, 130), (320, 175), (320, 200)], fill=(int(hue[4]) // 2, int(hue[5]) // 2, 60)
    )
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return out.getvalue()


@dataclass
class Day:
    """`now`: virtual seconds of the page. `stories` in page order; `count` of them."""

    store: redis.Redis
    now: float
    edition: str = "en-US"
    count: int = 60
    version: int = 0
    cards: list[PageCard] = field(default_factory=list)

    def write(self) -> Day:
        """Everything, page version 1."""
        self._publishers()
        self.cards = [self.card(at) for at in range(self.count)]
        for at, card in enumerate(self.cards):
            self.store.set(STORY.key(story=card.story_id), self.row(card, at).model_dump_json())
            if card.top.thumb_id:
                self.store.set(THUMB.key(thumb=card.top.thumb_id), thumb(at))
        alias = StoryRow(story_id="0absorbed0001", language="en", alias_of=self.cards[0].story_id)
        self.store.set(STORY.key(story=alias.story_id), alias.model_dump_json())
        self.publish(self.cards)
        return self

    def article(self, at: int, paper: int, title: str, **fields: object) -> ArticleCard:
        id, name, country, _, _ = PAPERS[paper % len(PAPERS)]
        section, topic, _, snippet, place = EVENTS[at % len(EVENTS)]
        url = f"https://www.{id}.example/{section}/{at}-{paper}?from=feed&x=1"
        base = {
            "article_id": article_id(url), "url": url, "title": title, "snippet": snippet, "publisher_id": id,
            "publisher": name, "domain": f"{id}.example", "country": country, "language": "en", "sections": [section],
            "topics": [topic], "places": [place] if place else [], "published_at": self.now - 900 - 240 * at,
            "first_seen_at": self.now - 600 - 240 * at,
        }  # fmt: skip
        return ArticleCard.model_validate({**base, **fields})

    def card(self, at: int) -> PageCard:
        section, topic, headline, _, place = EVENTS[at % len(EVENTS)]
        round_ = at // len(EVENTS)
        title = headline if round_ == 0 else f"{headline.split(',')[0]}: what changed, part {round_ + 1}"
        paper = at * 7 + round_
        top = self.article(
            at, paper, title, thumb_id=f"t{at}" if at % 3 == 0 or at < 3 else None, paywalled=at % 10 == 7,
            kind="opinion" if at == 12 else "news",
        )  # fmt: skip
        supporting = [
            self.article(at, paper + 1, f"{place or 'What happened'}: the first hours, step by step"),
            self.article(
                at, paper + 2, f"Nobody should be surprised by this turn in {topic.replace('-', ' ')}", kind="opinion"
            ),
            self.article(at, paper + 3, f"What we know so far about {topic.replace('-', ' ')}, and what we do not"),
        ]
        return PageCard(
            story_id=f"0story{at:07d}", headline=title, top=top, supporting=supporting,
            also_published_by=["Valley Herald", "City Lantern"] if at == 1 else [], sources=12 - at % 9,
            articles=20 - at % 9, label="breaking" if at == 0 else None, updated_at=self.now - 300 - 240 * at,
            first_seen_at=self.now - 7200 - 240 * at, score=10.0 - at / 10, sections=[section],
            topics=[topic, f"{topic}-{at}"], entities=[f"entity-{at}"], places=[place] if place else [], lang="en",
        )  # fmt: skip

    def row(self, card: PageCard, at: int) -> StoryRow:
        articles = [card.top, *card.supporting]
        members = [StoryMember(article=a, joined_at=a.first_seen_at) for a in articles]
        copy = self.article(at, at * 7 + at // len(EVENTS) + 4, card.headline, first_seen_at=self.now)
        members.append(StoryMember(article=copy, joined_at=self.now, copy_of=card.top.article_id))
        if at == 0:
            check = self.article(at, 5, "Fact check: old flood pictures are not from Tessaly", kind="fact_check")
            home = self.article(at, 2, "Elm Valley rescue dogs leave for the coast", places=["Elm Valley"])
            members += [StoryMember(article=a, joined_at=a.first_seen_at) for a in (check, home)]
        return StoryRow(
            story_id=card.story_id, language="en", created_at=card.first_seen_at, updated_at=card.updated_at,
            members=members, history=[{"kind": "merge", "at": self.now - 100}] if at == 0 else [],
            links=["0arabic000001"] if at == 0 else [],
        )  # fmt: skip

    def publish(self, cards: list[PageCard], *, generated_at: float | None = None, pool: bool = True) -> int:
        """One version of the top page, of a page per section, and of the pool; then tell the channel."""
        self.version += 1
        at = self.now if generated_at is None else generated_at
        if pool:
            entries = [self.entry(card) for card in cards]
            stored = CandidatePool(edition=self.edition, version=self.version, generated_at=at, entries=entries)
            self.store.set(POOL.key(edition=self.edition), stored.model_dump_json())
        sections = ["top", *dict.fromkeys(card.sections[0] for card in cards if card.sections)]
        for section in sections:
            chosen = [card for card in cards if section in ("top", *card.sections)][:30]
            snapshot = PageSnapshot(
                edition=self.edition, section=section, version=self.version, generated_at=at, cards=chosen
            )
            name = {"edition": self.edition, "section": section}
            self.store.set(PAGE.key(**name, n=self.version), snapshot.model_dump_json())
            self.store.set(PAGE_LATEST.key(**name), self.version)
            self.store.publish(PAGES_CHANNEL.pattern, f"{self.edition}/{section}/{self.version}")
        return self.version

    def entry(self, card: PageCard) -> PoolEntry:
        at = int(card.story_id[6:])
        authority = next((p[3] for p in PAPERS if p[0] == card.top.publisher_id), 0.3)
        features = {"authority": authority, "score": card.score, "articles_1h": 25.0 if card.label else 3.0}
        features |= {"breaking": 1.0 if card.label else 0.0, "sources": float(card.sources)}
        vector = unit(at % len(EVENTS)) + 0.5 * unit(1000 + at)
        packed = Vector.pack(PROJECTION, (vector / np.linalg.norm(vector)).astype(np.float32))
        return PoolEntry(card=card, vector=packed, features=features)

    def _publishers(self) -> None:
        for id, name, country, authority, place in PAPERS:
            row = Publisher(
                publisher_id=id, name=name, domains=[f"{id}.example"], country=country, language="en",
                authority=authority, place=place, paywalled=id == "market-lens",
            )  # fmt: skip
            self.store.set(PUBLISHER.key(publisher=id), row.model_dump_json())
            self.store.sadd(PUBLISHERS.pattern, id)


def write_arabic(store: redis.Redis, now: float) -> None:
    """An edition that runs right to left, with the story that the first English one links to."""
    url = "https://www.sahil.example/a/1"
    top = ArticleCard(
        article_id=article_id(url), url=url, title="زلزال قوي يهز ساحل تيسالي وفرق الإنقاذ تصل إلى القرى الأولى",
        snippet="ضرب الزلزال الساحل قبل الفجر، والطرق إلى ثلاث قرى مقطوعة.", publisher_id="sahil", publisher="الساحل",
        domain="sahil.example", country="EG", language="ar", dir="rtl", sections=["world"], topics=["earthquakes"],
        first_seen_at=now - 400, published_at=now - 500,
    )  # fmt: skip
    row = StoryRow(
        story_id="0arabic000001", language="ar", created_at=now - 400, updated_at=now - 400,
        members=[StoryMember(article=top, joined_at=now - 400)],
    )  # fmt: skip
    store.set(STORY.key(story=row.story_id), row.model_dump_json())
    card = PageCard(
        story_id=row.story_id, headline=top.title, top=top, sources=1, articles=1, updated_at=now - 400,
        first_seen_at=now - 400, score=1.0, sections=["world"], topics=["earthquakes"], lang="ar", dir="rtl",
    )  # fmt: skip
    Day(store, now, edition="ar-EG").publish([card], pool=False)
