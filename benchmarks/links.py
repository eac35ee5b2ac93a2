"""How well links across languages are found: labelled German-English pairs, and the sample world, whose truth is known.

Pairs: each article is a story of one; of all German x English combinations the labelled ones count (same event: mean
`overall` of 2 or less; for recall also the surest, 1.5 or less), and how many others would be linked is printed for
reading. Sample world: the true stories of every language, so that only linking is measured. Run
`FRONTPAGE_DATASETS=DIR python -m benchmarks.links`; without the variable only the world is measured.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks import datasets
from benchmarks.harness import HERE, judge, record
from data_samples.world import build
from frontpage.adapters.encoder import Encoder, UseEncoder
from frontpage.adapters.parse.gazetteer import gazetteer
from frontpage.domain.article import ArticleSignals, derive
from frontpage.domain.entities import tag
from frontpage.domain.links import LinkIndex, LinkPolicy, Pair, centre, pair_of, representatives, side_of
from frontpage.domain.story import Member, Story

#: Length of a title and a snippet, as stories keep them; the pairs' titles are not separable from their texts.
TITLE, SNIPPET = 80, 200
SAME, SUREST = 2.0, 1.5


def article(id: str, language: str, title: str, text: str, publisher: str = "") -> ArticleSignals:
    """Signals as enrich makes them, entities of the gazetteer included."""
    found = tag(title, text[:SNIPPET], text, language, gazetteer()).entities
    return derive(
        article_id=id, title=title, lead=text, body=text, language=language, publisher_id=publisher, entities=found
    )


def story(id: str, language: str, members: Iterable[tuple[ArticleSignals, str, float, str | None]]) -> Story:
    """A story of (signals, shown text, time, id of the original)."""
    made = Story(id, language, 0.0, 0.0)
    for signals, shown, at, copy_of in members:
        made.add(Member(signals, shown, at, copy_of))
    return made


def edges(stories: Sequence[Story], encoder: Encoder, policy: LinkPolicy) -> tuple[LinkIndex, dict[Pair, float]]:
    """The pairs that reach the bar, before the mutual choice."""
    index = LinkIndex(policy)
    for each in stories:
        index.put(side_of(each))
    likely = {pair_of(s.story_id, other) for s in stories for other in index.partners(s.story_id)}
    by_id = {s.story_id: s for s in stories}
    wanted = sorted({id for pair in likely for id in pair})
    centres = {id: centre(encoder.encode([m.card for m in representatives(by_id[id])])) for id in wanted}
    scored = {(a, b): index.score(a, b, float(centres[a] @ centres[b])) for a, b in sorted(likely)}
    return index, {pair: score for pair, score in scored.items() if score is not None}


def semeval(root: Path, encoder: Encoder, policy: LinkPolicy) -> dict[str, float]:
    """Precision and recall on the labelled pairs; what else would be linked is printed."""
    folder = root / datasets.FOLDERS["semeval"]
    rows = {r["id"]: r for r in datasets.read(folder / "articles.jsonl.gz") if r["text"] and r["lang"] in ("de", "en")}
    votes: dict[Pair, list[float]] = defaultdict(list)
    for row in datasets.read(folder / "pairs.jsonl.gz"):
        if {row["lang1"], row["lang2"]} == {"de", "en"} and row["id1"] in rows and row["id2"] in rows:
            votes[pair_of(row["id1"], row["id2"])].append(float(row["overall"]))
    overall = {pair: float(np.mean(given)) for pair, given in votes.items()}
    index, reached = edges([_single(row) for row in rows.values()], encoder, policy)
    found = {(link.left, link.right): link.score for link in index.mutual(reached)}
    labelled = [pair for pair in found if pair in overall]
    right = [pair for pair in labelled if overall[pair] <= SAME]
    for pair in sorted(set(found) - set(overall)):
        print(f"not labelled, {found[pair]:.2f}: " + " | ".join(rows[id]["text"][:TITLE] for id in pair))
    return {
        "de_en_pairs": len(overall),
        "de_en_linked": len(labelled),
        "de_en_precision": len(right) / len(labelled) if labelled else 1.0,
        "de_en_recall": len(right) / sum(o <= SAME for o in overall.values()),
        "de_en_recall_surest": sum(overall[p] <= SUREST for p in right) / sum(o <= SUREST for o in overall.values()),
        "de_en_not_labelled": len(found) - len(labelled),
        "de_en_combinations": sum(r["lang"] == "de" for r in rows.values())
        * sum(r["lang"] == "en" for r in rows.values()),
    }


def sample_world(encoder: Encoder, policy: LinkPolicy) -> dict[str, float]:
    """Links between the true stories of the sample world."""
    world = build()
    members: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for a in world.articles:
        if a.event_id:
            signals = article(a.id, a.language, a.title, a.text, a.publisher_id)
            shown = f"{a.title}. {a.versions[0].summary[:SNIPPET]}"
            members[a.event_id, a.language].append((signals, shown, a.published_at, a.copy_of))
    stories = [story(f"{event}/{language}", language, rows) for (event, language), rows in sorted(members.items())]
    group = {event.id: event.group for event in world.events}
    truth = {
        pair_of(a.story_id, b.story_id)
        for a, b in itertools.combinations(stories, 2)
        if a.language != b.language and group[a.story_id.split("/")[0]] == group[b.story_id.split("/")[0]]
    }
    index, found = edges(stories, encoder, policy)
    links = {(link.left, link.right): link.score for link in index.mutual(found)}
    for pair in sorted(set(links) ^ truth):
        print(f"{'wrong' if pair in links else 'missed'}: {pair} {links.get(pair, 0):.2f}")
    right = len(truth & set(links))
    return {
        "world_stories": len(stories),
        "world_pairs": len(truth),
        "world_precision": right / len(links) if links else 1.0,
        "world_recall": right / len(truth) if truth else 1.0,
    }


def _single(row: dict[str, Any]) -> Story:
    text = row["text"]
    signals = article(row["id"], row["lang"], text[:TITLE], text[TITLE:])
    made = story(row["id"], row["lang"], [(signals, text[: TITLE + SNIPPET], 0.0, None)])
    return made


def main() -> None:
    """Measure, show and record."""
    encoder, policy = UseEncoder(), LinkPolicy()
    figures = sample_world(encoder, policy)
    if os.environ.get("FRONTPAGE_DATASETS"):
        figures |= semeval(datasets.folder("FRONTPAGE_DATASETS"), encoder, policy)
    record("links", figures, "links across languages at the shipped policy")
    judge("links", figures, Console(), HERE / "targets.toml")


if __name__ == "__main__":
    main()
