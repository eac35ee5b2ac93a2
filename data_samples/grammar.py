"""The sentence grammar: reads the kinds of events in `texts/*.txt` and writes reports from them.

A kind is a block of lines; nothing here knows a language beyond its text files:

    == NAME SECTION SCOPE     begins a kind; SCOPE is world, home or local (which places it may happen in)
    = field a|b|c             one value is drawn per event, without repeats while the values last
    = field 10-90             a number is drawn
    + field 10-90             a number that grows while the event develops (its final value is drawn)
    T: topic phrase           H: headline     U: headline of an update     L: lead
    1: .. 9: sentence         one fact; several lines with one digit are wordings of the same fact
    Q: quotation              Z: closing line
    C: background, V: a passer-by's voice (in the frames `context` and `context_SECTION`)

`[a|b]` is a choice (nested), `{field}` a value of the event's fact sheet. Which wording a report takes is spread over
the reports of an event, so that two papers share the facts and not the sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random

_FIELD = re.compile(r"\{(\w+)\}")
_INNER = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"^(\d+)-(\d+)$")
_SPACES = re.compile(r"\s+")
_ARTICLE = re.compile(r"\b([Aa]) (?=(?:8|11 |18 |[aeioAEIO]))")


@dataclass(slots=True)
class Kind:
    """A kind of event with its wordings."""

    name: str
    section: str
    scope: str
    fields: dict[str, str] = field(default_factory=dict)
    grows: set[str] = field(default_factory=set)
    lines: dict[str, list[str]] = field(default_factory=dict)

    @property
    def facts(self) -> list[str]:
        """Keys of the facts in their order."""
        return sorted(key for key in self.lines if key.isdigit())


@dataclass(frozen=True, slots=True)
class Text:
    """A written report: `summary` is its lead, which is also its first paragraph."""

    title: str
    summary: str
    paragraphs: tuple[str, ...]


@cache
def kinds(language: str, *, frames: bool = False) -> dict[str, Kind]:
    """The kinds of a language by name; `frames` gives the fixed forms (weather, results, opinion) instead."""
    found: dict[str, Kind] = {}
    for entry in sorted(files("data_samples").joinpath("texts").iterdir(), key=lambda e: e.name):
        if entry.name.startswith(f"{language}_") and ("frames" in entry.name) is frames:
            found.update(_parse(entry.read_text(encoding="utf-8")))
    return found


def table(name: str) -> list[list[str]]:
    """Rows of a `|`-separated table in texts/, comments and blank lines left out."""
    text = files("data_samples").joinpath("texts", name).read_text(encoding="utf-8")
    return [[c.strip() for c in line.split("|")] for line in text.splitlines() if line.strip() and line[0] != "#"]


@cache
def people_of(language: str) -> dict[str, list[str]]:
    """The pools of names of a language: women, men, families, stems (of companies)."""
    return {row[1]: row[2].split(",") for row in table("names.txt") if row[0] == language}


def _parse(text: str) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    kind: Kind | None = None
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("== "):
            name, section, scope = line[3:].split()
            kind = found[name] = Kind(name, section, scope)
            continue
        if kind is None:
            raise ValueError(f"a line before the first kind: {line!r}")
        if line[:2] in ("= ", "+ "):
            name, values = line[2:].split(" ", 1)
            kind.fields[name] = values.strip()
            if line[0] == "+":
                kind.grows.add(name)
        else:
            key, sentence = line.split(":", 1)
            kind.lines.setdefault(key.strip(), []).append(sentence.strip())
    return found


def options(values: str) -> list[str]:
    """The alternatives of a field, split at the bars outside brackets."""
    parts, depth, current = [], 0, ""
    for character in values:
        depth += (character == "[") - (character == "]")
        if character == "|" and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [*parts, current]


def draw(values: str, rng: Random, deal: int, order: Random) -> str:
    """A field's value for the `deal`-th event of its kind: numbers by `rng`, choices dealt in shuffled rounds."""
    if bounds := _RANGE.match(values):
        return str(_rounded(rng.randint(int(bounds[1]), int(bounds[2]))))
    choices = options(values)
    order.shuffle(choices)
    return choices[deal % len(choices)]


def grown(final: str, progress: float) -> str:
    """A growing number at `progress` 0..1 of the event's development, never zero."""
    return str(max(1, _rounded(round(int(final) * (0.4 + 0.6 * min(1.0, max(0.0, progress)))))))


def _rounded(number: int) -> int:
    step = 1 if number < 200 else 10 if number < 2000 else 100 if number < 20_000 else 1000
    return number // step * step


def spin(template: str, rng: Random) -> str:
    """Resolve every `[a|b]`, innermost first."""
    while "[" in template:
        template = _INNER.sub(lambda match: rng.choice(match[1].split("|")), template)
    return template


def fill(template: str, sheet: dict[str, str], rng: Random, language: str = "en") -> str:
    """Resolve choices and fields (values may hold both), then tidy spaces, articles and the first letter."""
    text = spin(template, rng)
    for _ in range(3):
        if "{" not in text:
            break
        text = spin(_FIELD.sub(lambda m: sheet[m[1]], text), rng)
    text = _SPACES.sub(" ", text).replace(" ,", ",").replace(" .", ".").strip()
    if language == "en":
        text = _ARTICLE.sub(r"\1n ", text)
    first = next((i for i, c in enumerate(text) if c.isalnum()), 0)
    return text[:first] + text[first].upper() + text[first + 1 :]


class Newsroom:
    """Writes the reports of one event; remembers which wordings were used, to spread them."""

    def __init__(self, kind: Kind, sheet: dict[str, str], language: str) -> None:
        self._kind, self._sheet, self._language = kind, sheet, language
        self._used: Counter[tuple[str, str]] = Counter()
        self._titles: set[str] = set()

    def sheet(self, progress: float = 1.0) -> dict[str, str]:
        """The fact sheet as known at that progress of the event."""
        return {k: grown(v, progress) if k in self._kind.grows else v for k, v in self._sheet.items()}

    def report(self, rng: Random, progress: float, *, update: bool = False, share: float | None = None) -> Text:
        """A report: lead, most of the facts in an order of its own, one or two quotations."""
        sheet = self.sheet(progress)
        english = self._language == "en"  # it has the most wordings, so its reports can share more of the facts
        share = (
            rng.uniform(0.55, 0.75) if share is None and english else rng.uniform(0.45, 0.7) if share is None else share
        )
        facts = self._kind.facts
        keep = max(3, round(len(facts) * share))
        chosen = sorted(rng.sample(facts, min(keep, len(facts))))
        if rng.random() < 0.7:  # most papers put their own order on it
            rng.shuffle(chosen)
        sentences = [self._say(key, sheet, rng) for key in chosen]
        for key, count in (
            ("C", rng.choice((1, 2, 2, 3))),
            ("V", rng.choice((3, 3, 4, 5) if english else (2, 3, 3, 4))),
        ):
            lines = self._background(key)
            for line in rng.sample(lines, min(len(lines), count)):
                people = {"v": self._passer_by(rng), "u": self._passer_by(rng)}
                sentences.insert(rng.randint(1, len(sentences)), fill(line, sheet | people, rng, self._language))
        quotes = self._kind.lines.get("Q", [])
        for quote in rng.sample(quotes, min(len(quotes), 1 + (rng.random() < 0.3))):
            sentences.insert(rng.randint(1, len(sentences)), fill(quote, sheet, rng, self._language))
        lead = self._say("L", sheet, rng)
        key = "U" if update and "U" in self._kind.lines else "H"
        return Text(self.headline(key, sheet, rng), lead, (lead, *paragraphs(dict.fromkeys(sentences), rng)))

    def _background(self, key: str) -> list[str]:
        """Sentences around the facts (C background, V voices); the fixed forms have their own or none."""
        frames = kinds(self._language, frames=True)
        if self._kind.name in frames:
            return self._kind.lines.get(key, [])
        found = [frames[name] for name in ("context", f"context_{self._kind.section}") if name in frames]
        return [line for frame in found for line in frame.lines.get(key, [])]

    def _passer_by(self, rng: Random) -> str:
        """Somebody whom only this report has met: what sets the words of two honest reports apart."""
        pools = people_of(self._language)
        surname = rng.choice(pools["heads"]) + rng.choice(pools["tails"])
        return f"{rng.choice(pools['women'])} {surname}"

    def headline(self, key: str, sheet: dict[str, str], rng: Random) -> str:
        """A headline that no report of this event has had, as far as the wordings last."""
        title = ""
        for _ in range(8):
            title = self._say(key, sheet, rng).rstrip(".")
            if title not in self._titles:
                break
        self._titles.add(title)
        return title

    def _say(self, key: str, sheet: dict[str, str], rng: Random) -> str:
        wordings = self._kind.lines[key]
        least = min(self._used[key, w] for w in wordings)
        wording = rng.choice([w for w in wordings if self._used[key, w] == least])
        self._used[key, wording] += 1
        return fill(wording, sheet, rng, self._language)


def paragraphs(sentences: Iterable[str], rng: Random) -> tuple[str, ...]:
    """Sentences gathered into paragraphs of one to three."""
    rest, out = list(sentences), []
    while rest:
        size = rng.randint(1, 3)
        out.append(" ".join(rest[:size]))
        rest = rest[size:]
    return tuple(out)
