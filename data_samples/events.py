"""What happens in the world: events with their place, time and fact sheet.

Each event of a kind gets values that no other event of the kind in that language has while they last (`grammar.draw`),
people and companies of its own, and a place. An event in several languages is drawn once per language with the same
seeds, so numbers, companies and the places of its text agree; the places table has towns named in several languages.
"""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Final

from data_samples.grammar import Kind, draw, fill, kinds, people_of
from data_samples.model import Event
from data_samples.publishers import Place, places

HOUR: Final = 3600.0
#: How many events each language has, and so how large it is in the world.
EVENTS_OF: Final = {"en": 136, "es": 32, "de": 32, "fr": 32, "pt": 26, "it": 9, "ja": 6, "ar": 6}
#: The towns in which an event of several languages may happen: named in each of these languages.
SHARED_CITY: Final = "Valparaíso"
_WEEKDAYS: Final = {
    "en": "Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday",
    "es": "lunes,martes,miércoles,jueves,viernes,sábado,domingo",
    "de": "Montag,Dienstag,Mittwoch,Donnerstag,Freitag,Samstag,Sonntag",
    "fr": "lundi,mardi,mercredi,jeudi,vendredi,samedi,dimanche",
    "pt": "segunda-feira,terça-feira,quarta-feira,quinta-feira,sexta-feira,sábado,domingo",
    "it": "lunedì,martedì,mercoledì,giovedì,venerdì,sabato,domenica",
    "ja": "月曜日,火曜日,水曜日,木曜日,金曜日,土曜日,日曜日",
    "ar": "الاثنين,الثلاثاء,الأربعاء,الخميس,الجمعة,السبت,الأحد",
}
#: Part of the day by quarter (used by the English texts only).
_PARTS: Final = ("night", "morning", "afternoon", "evening")


class People:
    """Deals names and company stems of a language, each once before any comes again."""

    def __init__(self, language: str, rng: Random) -> None:
        self.language, self.rng = language, rng
        self._pools = people_of(language)
        self._rounds: dict[str, list[str]] = {}

    def person(self, which: str) -> tuple[str, str]:
        """A full name and the short form used after it."""
        given = self._next(which)
        if self.language == "ja":
            return given, given[:2]
        family = self._next("families")
        return f"{given} {family}", family

    def stem(self) -> str:
        """A company's name."""
        return self._next("stems")

    def _next(self, which: str) -> str:
        if not self._rounds.get(which):
            self._rounds[which] = list(self._pools[which])
            self.rng.shuffle(self._rounds[which])
        return self._rounds[which].pop()


def deal_events(seed: int, start: float, span: float) -> list[Event]:
    """The events of all languages in order of time (the burst and the shared events are dealt by their makers)."""
    dealt: list[Event] = []
    for language, count in EVENTS_OF.items():
        dealer = Dealer(seed, language, "events")
        names = sorted(kinds(language))
        for number in range(count):
            kind = kinds(language)[names[number % len(names)]]
            at = start + _time_of_day(dealer.rng, span)
            dealt.append(dealer.make(kind, number // len(names), dealer.towns.next(kind.scope), at))
    return sorted(dealt, key=lambda event: (event.starts_at, event.id))


class Towns:
    """Deals places of a language by scope, each once before any comes again."""

    def __init__(self, language: str, rng: Random) -> None:
        self._all = [p for p in places() if p.language == language]
        self._free = [p for p in self._all if p.city != SHARED_CITY]  # kept for the event that several languages share
        self._rng = rng
        self._rounds: dict[str, list[Place]] = {}

    def next(self, scope: str) -> Place:
        """A place for a world, home or local event (languages without world places use their home places)."""
        scope = "home" if scope == "local" else scope
        if not self._rounds.get(scope):
            pool = [p for p in self._free if p.scope == scope] or list(self._free)
            self._rng.shuffle(pool)
            self._rounds[scope] = pool
        return self._rounds[scope].pop()

    def all_home(self) -> list[Place]:
        """Every home town, in file order."""
        return [p for p in self._all if p.scope == "home"]

    def named(self, city: str) -> Place:
        """The place of that name; KeyError when the language has none."""
        for place in self._all:
            if place.city == city:
                return place
        raise KeyError(city)


class Dealer:
    """Makes the events of a language: `people` and `towns` are dealt so that nothing repeats before it must."""

    def __init__(self, seed: int, language: str, what: str) -> None:
        self.seed, self.language = seed, language
        self.rng = Random(f"{seed}:{what}:{language}")
        self.people = People(language, self.rng)
        self.towns = Towns(language, self.rng)

    def make(self, kind: Kind, deal: int, place: Place, at: float, *, group: str | None = None) -> Event:
        """One event. `deal` counts the events of this kind in this language; `group` ties languages together."""
        id = f"{self.language}-{kind.name}-{deal}" if group is None else f"{self.language}-{group}"
        when = datetime.fromtimestamp(at, UTC)
        sheet = {
            "city": place.city,
            "region": place.region,
            "country": place.country_name,
            "day": _WEEKDAYS[self.language].split(",")[when.weekday()],
            "part": _PARTS[when.hour // 6],
        }
        sheet |= {f"near{i}": near for i, near in enumerate(place.near, start=1)}
        for slot, which in (("p1", "women"), ("p2", "men"), ("p3", "women"), ("p4", "men")):
            sheet[slot], sheet[slot + "s"] = self.people.person(which)
        sheet |= {"o1": self.people.stem(), "o2": self.people.stem()}
        numbers = Random(f"{self.seed}:{group or id}")
        for name, values in kind.fields.items():
            sheet[name] = draw(values, numbers, deal, Random(f"{self.seed}:{kind.name}:{name}"))
        label = topic(kind, sheet, self.language, self.rng)
        return Event(
            id=id, group=group or id, kind=kind.name, section=kind.section, language=self.language, place=place.city,
            country=place.country, starts_at=at, label=label, sheet=sheet | {"topic": label},
        )  # fmt: skip


def topic(kind: Kind, sheet: dict[str, str], language: str, rng: Random) -> str:
    """The phrase that names an event inside a sentence."""
    label = fill(kind.lines["T"][0], sheet, rng, language)
    template = kind.lines["T"][0]
    return label[:1].lower() + label[1:] if template[:1].islower() else label


def _time_of_day(rng: Random, span: float) -> float:
    """Seconds after the start: three of four events between 06:00 and 21:00, the rest at any time."""
    while True:
        offset = rng.uniform(0.2 * HOUR, span - 1.0 * HOUR)
        hour = offset % (24 * HOUR) / HOUR
        if 6 <= hour < 21 or rng.random() < 0.4:
            return offset
