"""How the press covers an event: wire report, own reports, reprints of the wire, follow-ups with new numbers.

Delays: the wire is first within minutes; other papers follow with a median of about 70 minutes (log-normal), which is
how coverage of an ordinary event spreads; the burst in `specials.py` is the exception.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from data_samples.desk import Desk
from data_samples.events import HOUR
from data_samples.grammar import Newsroom, Text, fill, kinds, paragraphs
from data_samples.model import Article, Event, Form, Publisher
from data_samples.publishers import WIRE_NAME

#: An event's numbers have their final value after this many hours.
DEVELOPS: Final = 10.0


class Coverage:
    """Covers events for one language; `reports` caps the size of each story so that sizes vary from 2 to about 20."""

    def __init__(self, seed: int, desk: Desk, language: str) -> None:
        self.language = language
        self.desk = desk
        self.rng = Random(f"{seed}:coverage:{language}")
        mine = [p for p in desk.publishers.values() if p.language == language]
        self.nationals = [p for p in mine if p.tier == "national"]
        self.locals = [p for p in mine if p.tier == "local"]
        self.rewriters = [p for p in mine if p.tier == "rewriter"]
        self.wire = next((p for p in mine if p.wire), None)

    def newsroom(self, event: Event) -> Newsroom:
        """The wordings of that event."""
        return Newsroom(kinds(self.language)[event.kind], event.sheet, self.language)

    def cover(self, event: Event) -> list[Article]:
        """All articles of an ordinary event."""
        rng, newsroom = self.rng, self.newsroom(event)
        home = [p for p in self.locals if p.place == event.place]
        filed: list[Article | None] = []
        if event.section == "local":
            authors = home + rng.sample(self.nationals, rng.choice((0, 1, 1, 2)))
        else:
            size = min(len(self.nationals), rng.choice((2, 3, 3, 4, 4, 5, 6, 7, 9, 12)))
            authors = [*self._choose(event, size), *home]
            if self.wire and rng.random() < 0.6:
                at = event.starts_at + rng.uniform(120, 720)
                wire = self.own(self.wire, event, newsroom, at, form="wire")
                filed += [wire, *self.reprints(wire, event, newsroom, rng.choice((1, 2, 2, 3, 4, 6, 8)))]
        for publisher in authors:
            delay = min(12 * HOUR, rng.lognormvariate(8.35, 0.9))  # e^8.35 s is about 70 minutes
            first = self.own(publisher, event, newsroom, event.starts_at + 300 + delay)
            filed.append(first)
            if kinds(self.language)[event.kind].grows and rng.random() < 0.35:
                at = event.starts_at + delay + rng.uniform(2.5, 9) * HOUR
                filed.append(self.own(publisher, event, newsroom, at, form="followup"))
        return [article for article in filed if article]

    def own(
        self, publisher: Publisher, event: Event, newsroom: Newsroom, at: float, *, form: Form = "report",
        share: float | None = None,
    ) -> Article | None:  # fmt: skip
        """A report in the publisher's own words with the numbers known at that time."""
        progress = (at - event.starts_at) / (DEVELOPS * HOUR)
        text = newsroom.report(self.rng, progress, update=form == "followup", share=share)
        if publisher.wire:
            lead = f"{event.place.upper()} (Meridian) – {text.summary}"
            text = replace(text, paragraphs=(lead, *text.paragraphs[1:]))
        return self.desk.file(
            publisher, text, at, section=event.section, form=form, event_id=event.id,
            place=event.place if event.section == "local" else None,
            credit=WIRE_NAME if publisher.wire else None,
        )  # fmt: skip

    def reprints(self, wire: Article | None, event: Event, newsroom: Newsroom, count: int) -> list[Article]:
        """Copies of a wire report: whole, cut or extended, mostly under other headlines and not always credited."""
        if wire is None:
            return []
        rng, out = self.rng, []
        pool = self.locals + self.rewriters + [p for p in self.nationals if p.authority < 0.75]
        pool = [p for p in pool if p.place != event.place]
        for publisher in rng.sample(pool, min(count, len(pool))):
            form: Form = rng.choice(("copy_full", "copy_cut", "copy_cut", "copy_extended", "copy_extended"))
            credited = rng.random() < 0.7
            title = wire.title if rng.random() < 0.3 else newsroom.headline("H", newsroom.sheet(0.1), rng)
            text = self.reworked(wire, form, publisher, event, title, credited=credited)
            at = wire.published_at + rng.lognormvariate(7.6, 0.8)
            article = self.desk.file(
                publisher, text, at, section=event.section, form=form, event_id=event.id, copy_of=wire.id,
                credit=WIRE_NAME if credited else None,
            )  # fmt: skip
            if article:
                out.append(article)
        return out

    def reworked(
        self, wire: Article, form: Form, publisher: Publisher, event: Event, title: str, *, credited: bool
    ) -> Text:
        """The wire's text as a customer prints it: `copy_cut` keeps its first half or so, `copy_extended` adds."""
        rng = self.rng
        version = wire.versions[0]
        body = list(version.paragraphs)
        if not credited:
            body[0] = version.summary
        if form == "copy_cut" and len(body) > 2:
            body = body[: max(2, round(len(body) * rng.uniform(0.5, 0.8)))]
        if form == "copy_extended":
            body += self._local_lines(publisher, event)
        return Text(title, version.summary, tuple(body))

    def _local_lines(self, publisher: Publisher, event: Event) -> tuple[str, ...]:
        frame = kinds(self.language, frames=True).get("local_add")
        if frame is None:
            return ()
        towns = [p.place for p in self.locals if p.country == publisher.country] or [p.place for p in self.locals]
        sheet = event.sheet | {"place": publisher.place or self.rng.choice(towns) or event.place}
        keys = self.rng.sample(frame.facts, 2)
        lines = [fill(self.rng.choice(frame.lines[key]), sheet, self.rng, self.language) for key in keys]
        return paragraphs(lines, self.rng)

    def _choose(self, event: Event, size: int) -> list[Publisher]:
        """Nationals for an event: those of its country and of high authority more often."""
        weights = {
            p.id: self.rng.random() ** (1 / (0.3 + p.authority + (0.5 if p.country == event.country else 0.0)))
            for p in self.nationals
        }
        return sorted(self.nationals, key=lambda p: weights[p.id], reverse=True)[:size]
