"""The hard cases, each made on purpose: burst, viral post, look-alikes, round-ups, live blog, comment, re-dated pieces.

Every function files articles at the desk and says in the article's truth what they are; numbers that the tests rely
on (size of the burst, the fifty rewriters) are constants here.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from data_samples.coverage import Coverage
from data_samples.desk import Desk
from data_samples.events import HOUR, SHARED_CITY, Dealer, topic
from data_samples.grammar import Kind, Newsroom, Text, fill, kinds, paragraphs
from data_samples.model import Article, Event, Version
from data_samples.publishers import Place

#: Originals of the burst in its first five minutes; the rule under test asks for 15 from 6 publishers above 0.5.
BURST_FIRST: Final = 20
BURST_SECONDS: Final = 280.0
#: A calm event that three languages report, in a town spelled alike in all of them.
_THREE: Final = {
    "en": Place("en", "world", "LU", "Luxembourg", "Esch-sur-Alzette", "the south of Luxembourg", ("Differdange", "Schifflange", "Bettembourg")),
    "de": Place("de", "home", "LU", "Luxemburg", "Esch-sur-Alzette", "Südluxemburg", ("Differdange", "Schifflange", "Bettembourg")),
    "fr": Place("fr", "home", "LU", "Luxembourg", "Esch-sur-Alzette", "Sud du Luxembourg", ("Differdange", "Schifflange", "Bettembourg")),
}  # fmt: skip
_SKIES: Final = (
    "rain from the west", "sunny spells", "snow showers", "a brisk gale", "icy fog", "mild grey hours", "hail",
    "endless drizzle", "ground frost", "thunder", "sleet", "desert dust", "a dry east wind", "low cloud", "a sudden thaw",
)  # fmt: skip
_INDEXES: Final = (
    "Harbour 40", "Continental 250", "Southern All-Share", "Monsoon 50", "Prairie Composite", "Delta 30", "Alpine Index",
    "Straits 100", "Cape Top 20", "Laurentian 60", "Outback Resources", "Liffey Select",
)  # fmt: skip
_SHARED_FIELDS: Final = ("p1", "p1s", "p2", "p2s", "p3", "p3s", "p4", "p4s", "o1", "o2")


def shared_event(seed: int, kind: str, group: str, at: float, where: dict[str, Place | None]) -> list[Event]:
    """One event as each of the languages in `where` tells it: the first names people and companies for all."""
    made: list[Event] = []
    for language, place in where.items():
        dealer = Dealer(seed, language, group)
        event = dealer.make(kinds(language)[kind], -1, place or dealer.towns.named(SHARED_CITY), at, group=group)
        if made:
            sheet = event.sheet | {name: made[0].sheet[name] for name in _SHARED_FIELDS}
            label = topic(kinds(language)[kind], sheet, language, dealer.rng)
            event = replace(event, label=label, sheet=sheet | {"topic": label})
        made.append(event)
    return made


def burst(seed: int, coverage: dict[str, Coverage], at: float) -> list[Event]:
    """The earthquake that everyone reports at once: in English within five minutes, elsewhere a little later."""
    events = shared_event(seed, "quake", "burst", at - 150, {"en": None, "es": None, "fr": None})
    desks = coverage["en"]
    newsroom = desks.newsroom(events[0])
    if desks.wire:
        wire = desks.own(desks.wire, events[0], newsroom, at, form="wire", share=0.7)
        desks.reprints(wire, events[0], newsroom, 14)
    ranked = sorted(desks.nationals, key=lambda p: -p.authority)
    for number, publisher in enumerate(ranked):
        first = number < BURST_FIRST - 1
        when = at + (desks.rng.uniform(8, BURST_SECONDS) if first else desks.rng.uniform(400, 3600))
        desks.own(publisher, events[0], newsroom, when, share=desks.rng.uniform(0.5, 0.75))
        if number % 2 == 0:
            desks.own(publisher, events[0], newsroom, when + desks.rng.uniform(1500, 4200), form="followup")
    for event in events[1:]:
        room = coverage[event.language]
        words = room.newsroom(event)
        for publisher in room.nationals:
            room.own(publisher, event, words, at + room.rng.uniform(120, 3000))
    return events


def three_languages(seed: int, coverage: dict[str, Coverage], at: float) -> list[Event]:
    """The calm event in three languages."""
    events = shared_event(seed, "merger", "three-languages", at, dict(_THREE))
    for event in events:
        room = coverage[event.language]
        words = room.newsroom(event)
        for publisher in room.rng.sample(room.nationals, 6):
            room.own(publisher, event, words, at + room.rng.uniform(300, 4 * HOUR))
    return events


def viral(seed: int, desk: Desk, coverage: Coverage, at: float) -> Event:
    """One post, rewritten by each of the low-authority sites with a sentence or two of its own."""
    dealer = Dealer(seed, "en", "viral")
    rng = dealer.rng
    kind = kinds("en", frames=True)["viral"]
    event = dealer.make(kind, 0, dealer.towns.next("home"), at - 600, group="viral-parrot")
    order = [fill(kind.lines[key][0], event.sheet, rng) for key in kind.facts]
    lead = fill(kind.lines["L"][0], event.sheet, rng)
    author = next(p for p in coverage.nationals if p.id == "the-stand")
    newsroom = Newsroom(kind, event.sheet, "en")
    title = newsroom.headline("H", event.sheet, rng)
    original = desk.file(
        author, Text(title, lead, (lead, *paragraphs(order, rng))), at,
        section=event.section, form="viral", event_id=event.id,
    )  # fmt: skip
    for publisher in coverage.rewriters:
        body = list(order)
        for _ in range(rng.choice((0, 0, 1))):
            body.pop(rng.randrange(3, len(body)))
        closing = fill(rng.choice(kind.lines["Z"]), event.sheet, rng)
        text = Text(newsroom.headline("H", event.sheet, rng), lead, (lead, *paragraphs(body, rng), closing))
        desk.file(
            publisher, text, at + rng.uniform(600, 3.5 * HOUR), section=event.section, form="rewrite",
            event_id=event.id, copy_of=original.id if original else None,
        )  # fmt: skip
    return event


def look_alikes(seed: int, desk: Desk, coverage: Coverage) -> list[Event]:
    """Weather per town and day, match reports, closing reports: one template, each another event."""
    dealer = Dealer(seed, "en", "look-alikes")
    rng, people = dealer.rng, dealer.people
    frames = kinds("en", frames=True)
    made: list[Event] = []

    def event(kind: Kind, city: Place, at: float, **values: str) -> tuple[Event, Newsroom]:
        base = dealer.make(replace(kind, lines=kind.lines | {"T": ["{city}"]}), len(made), city, at)
        sheet = base.sheet | values
        found = replace(base, label=topic(kind, sheet, "en", rng), sheet=sheet)
        made.append(found)
        return found, Newsroom(kind, sheet, "en")

    by_place = {p.place: p for p in coverage.locals}
    home = [p for p in dealer.towns.all_home() if p.city in by_place]
    skies = [(sky, then) for sky in _SKIES for then in _SKIES if sky != then]
    rng.shuffle(skies)  # no two forecasts promise the same pair, many share one half
    for day in (0, 1):
        for city in home:
            at = desk.start + (day * 24 + rng.uniform(4, 6)) * HOUR
            sky, then = skies.pop()
            found, words = event(frames["weather"], city, at, place=city.city, sky=sky, then=then)
            text = words.report(rng, 1.0, share=0.7)
            desk.file(
                by_place[city.city], text, at, section="local", form="weather", event_id=found.id, place=city.city
            )
    clubs = [f"{p.city} {suffix}" for p, suffix in zip(home, ("United", "Rovers", "City", "Athletic") * 7, strict=True)]
    sport = [p for p in coverage.nationals if p.authority > 0.55]
    for evening in (21.0, 45.0):
        shuffled = rng.sample(clubs, 20)
        for one, other in zip(shuffled[::2], shuffled[1::2], strict=True):
            at = desk.start + evening * HOUR + rng.uniform(-1800, 2700)
            score = f"{rng.randint(0, 4)}-{rng.randint(0, 3)}"
            scorer = people.person("men")[1]
            ground = (
                f"{rng.choice(('Canal', 'Mill', 'Station', 'Abbey', 'Foundry'))} {rng.choice(('Lane', 'Road', 'Park'))}"
            )
            found, words = event(
                frames["match"], home[clubs.index(one)], at, home=one, away=other, score=score, scorer=scorer,
                ground=ground, minute=str(rng.randint(3, 89)), crowd=f"{rng.randint(4, 39)},{rng.randint(100, 999)}",
                rank=rng.choice(("third", "sixth", "ninth", "eleventh")), next=rng.choice(clubs),
            )  # fmt: skip
            for publisher in rng.sample(sport, rng.choice((1, 2, 2))):
                text = words.report(rng, 1.0, share=0.8)
                desk.file(
                    publisher, text, at + rng.uniform(60, 3000), section="sports", form="result", event_id=found.id
                )
    stems = sorted({people.stem() for _ in range(40)})
    for turn, hour in enumerate((10.0, 16.5, 21.5, 34.0, 40.5, 45.5)):
        for index in _INDEXES[turn % 3 :: 3]:
            at = desk.start + hour * HOUR + rng.uniform(0, 900)
            found, words = event(
                frames["market"], rng.choice(home), at, index=index, dir=rng.choice(("up", "down")),
                pct=f"{rng.randint(1, 24) / 10}", points=f"{rng.randint(3, 19)},{rng.randint(100, 999)}",
                mover=rng.choice(stems), mpct=f"{rng.randint(2, 14)}.{rng.randint(1, 9)}",
                **{"yield": f"{rng.randint(20, 45) / 10}"}, oil=str(rng.randint(62, 88)),
            )  # fmt: skip
            publisher = rng.choice([p for p in coverage.nationals if p.authority > 0.6])
            desk.file(
                publisher, words.report(rng, 1.0, share=0.8), at, section="business", form="market", event_id=found.id
            )
    return made


def comment(seed: int, desk: Desk, coverage: Coverage, events: list[Event]) -> None:
    """Opinion on some events and fact-checks of claims about some; a third of them without telling markup."""
    frames = kinds(coverage.language, frames=True)
    rng = Random(f"{seed}:comment:{coverage.language}")
    for form, name, every in (("opinion", "opinion", 4), ("fact_check", "factcheck", 9)):
        frame = frames.get(name)
        if frame is None:
            continue
        for number, event in enumerate(events[::every]):
            fields = {k: rng.choice(v.split("|")) for k, v in frame.fields.items()}
            words = Newsroom(frame, event.sheet | fields, coverage.language)
            facts = coverage.newsroom(event)
            text = words.report(rng, 1.0, share=1.0)
            known = facts.report(rng, 0.7, share=0.4)
            body = (text.summary, known.summary, *text.paragraphs[1:], *known.paragraphs[1:2])
            at = event.starts_at + rng.uniform(2.5, 14) * HOUR
            publisher = rng.choice(coverage.nationals)
            desk.file(
                publisher, Text(text.title, text.summary, body), at, section=event.section, form=form,  # type: ignore[arg-type]
                kind=form, event_id=event.id, marked=number % 3 != 2,  # type: ignore[arg-type]
            )  # fmt: skip


def roundups(seed: int, desk: Desk, coverage: Coverage, events: list[Event]) -> list[Article]:
    """Briefings that tell two events, and one live blog that grows by versions."""
    frames = kinds("en", frames=True)
    rng = Random(f"{seed}:roundups")
    out: list[Article | None] = []
    for number in range(12):
        at = desk.start + (7 + number * 3.2) * HOUR
        first, second = _two_recent(events, at, rng)
        text = _two_in_one(frames["roundup"], first, second, coverage, rng)
        publisher = coverage.nationals[number % len(coverage.nationals)]
        out.append(
            desk.file(publisher, text, at, section="top", form="roundup", kind="other", touches=(first.id, second.id))
        )
    at = desk.start + 26 * HOUR
    first, second = _two_recent(events, at, rng)
    text = _two_in_one(frames["live"], first, second, coverage, rng)
    live = desk.file(
        coverage.nationals[4], text, at, section="world", form="live", kind="live", touches=(first.id, second.id)
    )
    if live:
        versions = [live.versions[0]]
        for step in range(1, 7):
            more = _two_in_one(frames["live"], first, second, coverage, rng)
            body = (*more.paragraphs[1:], *versions[-1].paragraphs)
            moment = at + step * 0.6 * HOUR
            versions.append(Version(moment, moment, live.title, more.summary, body))
        updated = replace(live, versions=tuple(versions))
        desk.replace(live, updated)
        out.append(updated)
    return [article for article in out if article]


def _two_recent(events: list[Event], at: float, rng: Random) -> tuple[Event, Event]:
    recent = [e for e in events if at - 10 * HOUR < e.starts_at < at - HOUR and e.section != "local"]
    first, second = rng.sample(recent or events, 2)
    return first, second


def _two_in_one(frame: Kind, first: Event, second: Event, coverage: Coverage, rng: Random) -> Text:
    sheet = first.sheet | {"topic": first.label, "other": second.label}
    opening = fill(rng.choice(frame.lines["L"]), sheet, rng)
    title = fill(rng.choice(frame.lines["H"]), sheet, rng).rstrip(".")
    halves = [coverage.newsroom(event).report(rng, 0.6, share=0.35) for event in (first, second)]
    closing = fill(rng.choice(frame.lines["Z"]), sheet, rng)
    return Text(title, opening, (opening, *halves[0].paragraphs, *halves[1].paragraphs, closing))


def second_thoughts(seed: int, desk: Desk, coverage: dict[str, Coverage], events: dict[str, Event]) -> None:
    """Corrected headlines (same address, new title) and re-dated old pieces (same address and text, new date)."""
    rng = Random(f"{seed}:second-thoughts")
    reports = [a for a in desk.articles if a.form == "report" and a.event_id in events]
    for article in rng.sample([a for a in reports if a.published_at < desk.end - 3 * HOUR], 36):
        event = events[article.event_id or ""]
        words = coverage[article.language].newsroom(event)
        first = article.versions[0]
        for _ in range(9):
            title = words.headline("H", words.sheet(0.5), rng)
            if title != first.title:
                break
        at = first.at + rng.uniform(900, 5400)
        desk.replace(article, replace(article, versions=(first, replace(first, at=at, title=title))))
    early = [
        a for a in desk.articles
        if a.form == "report" and len(a.versions) == 1 and a.published_at < desk.start + 9 * HOUR
    ]  # fmt: skip
    for article in rng.sample(early, min(10, len(early))):
        at = desk.start + rng.uniform(38, 46.4) * HOUR
        first = article.versions[0]
        desk.replace(article, replace(article, versions=(first, replace(first, at=at, claimed_at=at))))
