"""The simulated publishers of `week.py`: what each site publishes and when, and how its server answers. All seeded.

A feed's items come in a Poisson process whose rate follows the hour (in the site's own zone) and the weekday; a quarter
of the items bring followers within minutes, and one event makes two fifths of the sites publish eight times as
much for two hours. Servers are honest or have one quirk each (`QUIRKS`): validators that lie in both directions,
answers that never say 304, dates in the future, overload with Retry-After in both forms, wrong and right Cache-Control,
410, moves for good and for a day, maintenance pages, robots.txt that forbids or asks for a delay.

Tiers as in the editions document: busy (its top feeds), main (a publisher's first feed), tail (sections).
"""

from __future__ import annotations

import bisect
import json
import random
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Final, Literal
from xml.sax.saxutils import escape

from frontpage.domain.ids import digest

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
#: Monday 00:00 UTC.
START: Final = 1_780_272_000.0
Tier = Literal["busy", "main", "tail"]
#: Items that a feed shows.
SHOWN: Final = 20
#: Share of a day's items by local hour, from the shape of newsrooms: a morning peak, a long afternoon, a quiet night.
BY_HOUR: Final = (2, 1, 1, 1, 2, 4, 9, 15, 19, 20, 18, 17, 15, 16, 16, 15, 14, 14, 13, 12, 10, 8, 5, 3)
#: The event: day 3, 14:00.
EVENT: Final = START + 3 * DAY + 14 * HOUR

#: Quirk: share of the tail's and the main feeds. What is left is honest, with both validators or one of them.
QUIRKS: Final[dict[str, float]] = {
    "no-validators": 0.04,  # 200 with the same body, always
    "new-etag": 0.03,  # another ETag for the same content, and a build date in it
    "stuck": 0.015,  # 304 to every validator, whatever was published
    "future": 0.03,  # dates hours ahead
    "undated": 0.03,
    "max-age": 0.06,  # says how long it is fresh, and is
    "wrong-max-age": 0.015,  # says a month, publishes hourly
    "expires": 0.01,
    "overload": 0.03,  # 429 and 503 for two hours a day
    "gone": 0.01,  # 410 from day 2 on
    "moved": 0.02,  # 301 from day 1 on, the old host dead from day 2 on
    "detour": 0.02,  # 302 to a guest for a day, which then forgets it
    "maintenance": 0.01,  # an HTML page for six hours
    "closed": 0.01,  # robots.txt forbids the feed
    "delay": 0.02,  # robots.txt asks for ten seconds between requests
    "hub": 0.10,  # WebSub, announced within seconds
    "sleeping-hub": 0.01,  # stops announcing on day 1
}  # fmt: skip
#: Two fifths of the busy tier are these, one of each in this order; the rest of it is honest.
BUSY_QUIRKS: Final = ("no-validators", "stuck", "future", "max-age", "wrong-max-age", "overload", "new-etag", "hub")


@dataclass(frozen=True, slots=True)
class Item:
    """What was published, and when it is in the feed."""

    number: int
    at: float


@dataclass(slots=True)
class Reply:
    """An answer of a server."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(slots=True)
class Feed:
    """One feed and the server behind it. `items` are all of it, oldest first; those before START are its backlog."""

    url: str
    host: str
    tier: Tier
    quirk: str
    items: list[Item]
    rss: bool
    seed: str
    times: list[float] = field(default_factory=list)
    answers: int = 0

    def __post_init__(self) -> None:
        self.times = [item.at for item in self.items]

    def shown(self, now: float) -> list[Item]:
        """What the feed shows, newest first."""
        end = bisect.bisect_right(self.times, now)
        return self.items[max(0, end - SHOWN) : end][::-1]

    def address(self, item: Item) -> str:
        """Of the article."""
        return f"https://{self.host}/news/{item.number}"

    def readable(self, at: float) -> bool:
        """Whether a reader who does all it should can find what is published at that moment."""
        return self.quirk != "closed" and not (self.quirk == "gone" and at > START + 2 * DAY - 7 * HOUR)

    def answer(self, host: str, asked: dict[str, str], now: float) -> Reply:
        """Of the server at `host` to a GET with the headers `asked`."""
        self.answers += 1
        day = (now - START) / DAY
        headers = {"date": formatdate(now, usegmt=True)}
        away = self._away(host, day, now, headers)
        return away if away is not None else self._content(asked, now, headers)

    def _away(self, host: str, day: float, now: float, headers: dict[str, str]) -> Reply | None:
        """The answers that carry no feed."""
        if self.quirk == "gone" and day >= 2:
            return Reply(410, headers)
        if self.quirk == "moved" and host == self.host and day >= 1:
            if day >= 2:
                return Reply(404, headers)
            return Reply(301, headers | {"location": f"https://new-{host}/feed"})
        if self.quirk == "detour":
            if host == self.host and 1 <= day < 2:
                return Reply(302, headers | {"location": f"https://guest-{host}/feed"})
            if host != self.host and day >= 2:
                return Reply(404, headers)
        if self.quirk == "maintenance" and 1 <= day < 1.25:
            return Reply(200, headers | {"content-type": "text/html"}, b"<!doctype html><title>Back soon</title>")
        if self.quirk == "overload" and 10 <= now % DAY / HOUR < 12:
            until = now - now % DAY + 12 * HOUR
            wait = min(1_200.0, until - now + 1)
            kind = self.answers % 3
            said = (
                {}
                if kind == 0
                else {"retry-after": f"{wait:.0f}" if kind == 1 else formatdate(now + wait, usegmt=True)}
            )
            return Reply(503 if kind == 2 else 429, headers | said)
        return None

    def _content(self, asked: dict[str, str], now: float, headers: dict[str, str]) -> Reply:
        shown = self.shown(now)
        newest = shown[0].at if shown else START
        etag, modified = f'"{digest(f"{self.seed}{newest}", 12)}"', formatdate(newest, usegmt=True)
        if self.quirk == "new-etag":
            etag = f'"{self.answers}"'
        validators = {"etag": etag, "last-modified": modified}
        if self.quirk in ("no-validators", "new-etag"):
            validators = {"etag": etag} if self.quirk == "new-etag" else {}
        elif self.quirk == "stuck":
            validators = {"etag": '"1"'}
        elif self.seed[-1] in "012":
            del validators["last-modified"]
        elif self.seed[-1] in "34":
            del validators["etag"]
        headers = headers | validators | self._freshness(now)
        if self.quirk in ("hub", "sleeping-hub"):
            headers["link"] = f'<https://hub.example/>; rel="hub", <{self.url}>; rel="self"'
        if (asked.get("If-None-Match") and asked.get("If-None-Match") == headers.get("etag")) or (
            "If-None-Match" not in asked
            and asked.get("If-Modified-Since")
            and asked.get("If-Modified-Since") == headers.get("last-modified")
        ):
            return Reply(304, headers)
        headers["content-type"] = "application/rss+xml" if self.rss else "application/feed+json"
        return Reply(200, headers, self._body(shown, now))

    def _freshness(self, now: float) -> dict[str, str]:
        match self.quirk:
            case "max-age":
                return {"cache-control": "public, max-age=90"}
            case "wrong-max-age":
                return {"cache-control": "max-age=2592000"}
            case "expires":
                return {"expires": formatdate(now + 1_800, usegmt=True)}
        return {}

    def _body(self, shown: list[Item], now: float) -> bytes:
        ahead = 3 * HOUR if self.quirk == "future" else 0.0
        dated = self.quirk != "undated"
        if self.rss:
            rows = "".join(
                f"<item><title>{escape(title(self.seed, one))}</title><link>{self.address(one)}</link>"
                f"<guid>{self.seed}-{one.number}</guid>"
                + (f"<pubDate>{formatdate(one.at + ahead, usegmt=True)}</pubDate>" if dated else "")
                + "</item>"
                for one in shown
            )
            built = f"<lastBuildDate>{formatdate(now, usegmt=True)}</lastBuildDate>" if self.quirk == "new-etag" else ""
            return (
                f'<?xml version="1.0"?><rss version="2.0"><channel><title>{self.seed}</title>'
                f"<link>https://{self.host}/</link><description/>{built}{rows}</channel></rss>"
            ).encode()
        entries = [
            {"id": f"{self.seed}-{one.number}", "url": self.address(one), "title": title(self.seed, one)}
            | ({"date_published": _iso(one.at + ahead)} if dated else {})
            for one in shown
        ]
        return json.dumps(
            {"version": "https://jsonfeed.org/version/1.1", "title": self.seed, "items": entries}, separators=(",", ":")
        ).encode()


def title(seed: str, item: Item) -> str:
    """A headline of our own."""
    return f"Report {item.number} of {seed}"


def publish(rng: random.Random, per_day: float, zone: int, end: float, *, in_event: bool) -> list[Item]:
    """The items of a feed from a week before START to `end`: rhythm, bunches, the event."""
    times: list[float] = []
    hours = sum(BY_HOUR)
    at = START - 7 * DAY
    while at < end:
        local = at + zone * HOUR
        weekend = 0.5 if (int(local // DAY) + 3) % 7 >= 5 else 1.0
        rate = per_day * BY_HOUR[int(local % DAY // HOUR)] / hours * weekend
        if in_event and EVENT <= at < EVENT + 2 * HOUR:
            rate = 8 * rate + 2
        # leaders; with followers a leader stands for 1.5 items
        for _ in range(_poisson(rng, rate / 1.5)):
            first = at + rng.random() * HOUR
            times.append(first)
            if rng.random() < 0.25:
                times += [first + rng.uniform(30, 600) for _ in range(rng.randint(1, 3))]
        at += HOUR
    return [Item(number, float(int(time))) for number, time in enumerate(sorted(times)) if time < end]


def sites(rng: random.Random, *, busy: int, main: int, tail: int, end: float) -> list[Feed]:
    """So many feeds of each tier. A third of the tail share one platform's domain, the others are sections of sites."""
    feeds: list[Feed] = []
    for tier, count in (("busy", busy), ("main", main), ("tail", tail)):
        quirks = _dealt(tier, count)
        rng.shuffle(quirks)
        for number in range(count):
            seed = f"{tier}{number}-{digest(f'{tier}{number}', 8)}"
            if tier == "tail" and number % 3 == 0:
                host = f"p{number}.platform.example"
            elif tier == "tail" and main:
                host = f"sections{number}.{'main'}{number % main}.example"
            else:
                host = f"www.{tier}{number}.example"
            per_day = {
                "busy": rng.uniform(50, 250),
                "main": min(80.0, rng.lognormvariate(2.5, 0.8)),
                "tail": min(40.0, rng.lognormvariate(1.0, 1.2)),
            }[tier]
            zone = rng.choice((-8, -5, 0, 1, 1, 2, 5, 9))
            items = publish(rng, per_day, zone, end, in_event=rng.random() < 0.4)
            feeds.append(
                Feed(f"https://{host}/feed", host, tier, quirks[number], items, rng.random() < 0.2, seed)  # type: ignore[arg-type]
            )
    return feeds


def one_of_each(rng: random.Random, end: float, per_day: float = 4.0) -> list[Feed]:
    """A section's feed for every quirk, an honest one, and a busy feed."""
    kinds: list[tuple[Tier, str]] = [("tail", quirk) for quirk in (*QUIRKS, "honest")]
    kinds.append(("busy", "honest"))
    feeds = []
    for tier, quirk in kinds:
        host = f"{quirk}.{tier}.example" if tier == "busy" else f"www.{quirk}.example"
        items = publish(rng, 100.0 if tier == "busy" else per_day, 0, end, in_event=True)
        feeds.append(Feed(f"https://{host}/feed", host, tier, quirk, items, quirk == "undated", f"{quirk}-{tier}5"))
    return feeds


def robots(quirk: str) -> Reply:
    """robots.txt of a host."""
    match quirk:
        case "closed":
            return Reply(200, {}, b"User-agent: *\nDisallow: /feed\n")
        case "delay":
            return Reply(200, {}, b"User-agent: *\nCrawl-delay: 10\n")
    return Reply(404)


def _dealt(tier: str, count: int) -> list[str]:
    if tier == "busy":
        quirks = list(BUSY_QUIRKS[: count * 2 // 5])
    else:
        quirks = [quirk for quirk, share in QUIRKS.items() for _ in range(round(share * count))]
    return [*quirks, *["honest"] * (count - len(quirks))]


def _poisson(rng: random.Random, mean: float) -> int:
    count, left = 0, rng.expovariate(1.0)
    while left < mean:
        count += 1
        left += rng.expovariate(1.0)
    return count


def _iso(at: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at, UTC).isoformat()
