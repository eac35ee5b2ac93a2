"""A whole file of articles through the online clusterer, with or without repair: what `frontpage cluster` runs.

The writer's own code on a stream without a clock: arrival is the order given, nothing expires, repair may touch a story
at every pass (there is no half hour to wait for) and looks at all stories at the end. The 48-hour re-clustering is the
same functions that Spark calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from frontpage.domain.article import ArticleSignals
from frontpage.domain.clustering import Clusterer, Policies, Policy
from frontpage.domain.languages import partition_of
from frontpage.domain.recluster import SPANNING, Edge, components, cut, propose
from frontpage.domain.story import StoryBook

#: Articles between two repair passes, as near to batch quality as clustering everything at once (measured).
EVERY: Final = 200
#: Arrivals stand this many seconds apart, so that story ids are ordered by arrival.
_STEP: Final = 1.0
_START: Final = 1_600_000_000.0
#: Candidate pairs for re-clustering: neighbours by vector and by words.
_NEIGHBOURS: Final = 15
_FLOOR: Final = -3.5


def cluster_all(
    articles: Sequence[ArticleSignals], policies: Policies, *, repaired: bool, tick: Callable[[int], None] | None = None
) -> StoryBook:
    """The book after all articles in the order given; `tick` is called with the number of articles done."""
    forever = float("inf")

    def policy(language: str) -> Policy:
        return replace(policies(language), window=forever, recent=EVERY * 3 * _STEP, rest=0.0)

    book = StoryBook()
    clusterer = Clusterer(policy, book)
    now = _START
    for number, article in enumerate(articles):
        now = _START + number * _STEP
        clusterer.decide(article, now, ("file", partition_of(article.language), number))
        if repaired and (number + 1) % EVERY == 0:
            clusterer.repair(now, ("repair", 0, number))
        if tick is not None:
            tick(number + 1)
    if repaired:
        _recluster(clusterer, now)
        clusterer.repair(now, ("repair", 0, len(articles)))
    return book


def _recluster(clusterer: Clusterer, now: float) -> None:
    """Re-cluster each language and let the writer consider the proposals."""
    number = 0
    for language in clusterer.languages:
        bar = clusterer.policy(language).join
        links = candidate_edges(clusterer, language)
        by_group: list[list[str]] = []
        touching: dict[str, list[Edge]] = defaultdict(list)
        for edge in links:
            touching[edge[0]].append(edge)
        ours = clusterer.index(language).articles
        for nodes in components(ours, links, bar):
            edges = [edge for node in nodes for edge in touching[node]]
            by_group += cut(nodes, edges, bar, loose={node for node in nodes if ours[node].article.kind in SPANNING})
        held = {key: value for key, value in clusterer.book.story_of.items() if key in ours}
        for proposal in propose(by_group, held, language, now):
            clusterer.consider(proposal, now, ("recluster", 0, number))
            number += 1


def candidate_edges(clusterer: Clusterer, language: str) -> list[Edge]:
    """Scored pairs of each article with its nearest articles; copies are as one with their originals."""
    import numpy as np

    index, scorer = clusterer.index(language), clusterer.policy(language).scorer
    names = sorted(index.articles)
    prepared = [index.articles[name] for name in names]
    found: dict[tuple[str, str], float] = {}
    if not prepared:
        return []
    place = {name: at for at, name in enumerate(names)}
    vectors = None
    if len({len(p.article.vector) for p in prepared}) == 1 and len(prepared[0].article.vector):
        vectors = np.stack([p.article.vector for p in prepared])
    for at, one in enumerate(prepared):
        near: set[int] = set()
        if vectors is not None:
            cosines = vectors @ one.article.vector
            count = min(_NEIGHBOURS + 1, len(names))
            near.update(int(other) for other in np.argpartition(-cosines, count - 1)[:count])
        for story_id in index.by_words(one, 5):
            near.update(place[p.article.article_id] for p in index.open[story_id].sample(4))
        near.update(place[p.article.article_id] for p in index.alike(one))
        story = clusterer.book.story_of_article(one.article.article_id)
        if story is not None:
            near.update(place[key] for key in list(story.members)[:30])
        near.discard(at)
        others = sorted(other for other in near if _key(names, at, other) not in found)
        for other, value in zip(others, scorer.logits(one, [prepared[o] for o in others]).tolist(), strict=True):
            if value > _FLOOR:
                found[_key(names, at, other)] = value
    return [(left, right, value) for (left, right), value in sorted(found.items())]


def _key(names: Sequence[str], left: int, right: int) -> tuple[str, str]:
    return (names[left], names[right]) if left < right else (names[right], names[left])
