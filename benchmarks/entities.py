"""Recall of names and places, language by language, before and after the dictionary has learnt.

    python -m benchmarks.entities

prints the table of docs/entities.md: headlines of our own (`entity_samples.toml`), tagged with the gazetteer alone, and
with names learnt from the sample's own stories by the batch layer's rule. Small on purpose: what each script can do.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from frontpage.adapters.parse.gazetteer import gazetteer
from frontpage.domain.entities import tag
from frontpage.domain.name_candidates import candidates
from frontpage.domain.names import Entry, Names, dictionary, form, supported

SAMPLES: Final = Path(__file__).with_name("entity_samples.toml")


@dataclass(frozen=True, slots=True)
class Line:
    """A headline with the names and places that stand in it."""

    title: str
    names: frozenset[str]
    places: frozenset[str]


def line(text: str) -> Line:
    """From `headline | name; name | place; place`."""
    title, names, places = (part.strip() for part in text.split("|"))
    sets = [frozenset(one.strip() for one in part.split(";") if one.strip()) for part in (names, places)]
    return Line(title, *sets)


def learn(stories: Iterable[Iterable[str]], language: str) -> Names:
    """The dictionary that the batch layer would learn from stories of headlines, each by another publisher."""
    support: dict[tuple[str, bool], tuple[set[int], set[int], Counter[str]]] = {}
    for story, headlines in enumerate(stories):
        for publisher, title in enumerate(headlines):
            for name, alone in candidates(title, "", language).items():
                found = support.setdefault((form(name, language), alone), (set(), set(), Counter()))
                found[0].add(publisher)
                found[1].add(story)
                found[2][name] += 1
    entries = [
        Entry(min(spellings, key=lambda name: (-spellings[name], name)), len(publishers), len(told), alone)
        for (_, alone), (publishers, told, spellings) in support.items()
        if supported(len(publishers), len(told))
    ]
    return dictionary(entries, language)


def recalls() -> dict[str, dict[str, float]]:
    """By language: recall of `places`, of `new` names, of `known` names without (`before`) and with what was learnt,
    and `precision` of all names that are found with it.
    """
    rows: dict[str, dict[str, float]] = {}
    for language, sample in tomllib.loads(SAMPLES.read_text(encoding="utf-8")).items():
        learnt = learn(sample["learn"], language)
        hits: dict[str, list[float]] = defaultdict(list)
        for kind in ("known", "new"):
            for one in map(line, sample[kind]):
                tagged = tag(one.title, "", "", language, gazetteer(), learnt=learnt)
                without = tag(one.title, "", "", language, gazetteer())
                names = set(tagged.entities) - set(tagged.places)
                hits["places"] += [place in tagged.places for place in sorted(one.places)]
                hits[kind] += [name in names for name in sorted(one.names)]
                if kind == "known":
                    hits["before"] += [name in without.entities for name in sorted(one.names)]
                hits["precision"] += [name in one.names for name in sorted(names)]
        rows[language] = {name: sum(found) / len(found) for name, found in hits.items()}
    return rows


def table(rows: dict[str, dict[str, float]]) -> str:
    """Markdown, as in docs/entities.md."""
    names = ("places", "new", "before", "known", "precision")
    lines = [
        "| language | places | names never seen | learnt names, before | learnt names, after | precision of names |"
    ]
    lines += ["|---|---|---|---|---|---|"]
    for language, row in rows.items():
        lines.append(f"| {language} | " + " | ".join(f"{row[name]:.2f}" for name in names) + " |")
    mean = {name: sum(row[name] for row in rows.values()) / len(rows) for name in names}
    lines.append("| mean | " + " | ".join(f"{mean[name]:.2f}" for name in names) + " |")
    return "\n".join(lines)


def main() -> None:
    """Entry point."""
    print(table(recalls()))


if __name__ == "__main__":
    main()
