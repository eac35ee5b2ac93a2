"""Do stories keep finding each other while their centroids move: `StoryIndex.nearest` against exact search.

    python -m benchmarks.neighbours [--stories 30000] [--updates 100000]

The index takes the first report of each story of `story_generator.py`, is asked once (which builds its graph above
20,000 stories), and then takes reports of stories drawn at random, each moving a centroid: the first report turned by a
random direction to a cosine of about 0.9. Reports come without words and fingerprints: only their vectors are searched.
Looked up are 2,000 articles of other stories of the same topics.

recall: of the ten nearest by exact products with the present centroids, the share that `nearest` gives; recall_before:
the same before the updates. recall_moved: of look-ups for stories' own present centroids, the share that puts the story
itself first. lookup and update: milliseconds by the wall clock, on one thread; exact_ms: one exact search by numpy.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any, Final

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as `frontpage up` starts the writer; read when numpy is imported

import numpy as np
from rich.console import Console

from benchmarks import story_generator
from benchmarks.decisions import DECIDED
from benchmarks.harness import HERE, judge, record
from frontpage.adapters.story_models import policy_for
from frontpage.domain.article import ArticleSignals
from frontpage.domain.clustering import NEAREST
from frontpage.domain.index import StoryIndex

LOOKUPS: Final = 2_000
#: Length of the random direction that is added to a report's unit vector: to a cosine of 0.9.
TURN: Final = 0.48
_NONE: Final[Any] = np.zeros(0, dtype=np.uint32)


def bare(article: ArticleSignals, article_id: str, vector: Any) -> ArticleSignals:
    """The article with another vector and nothing else to be found by."""
    return replace(
        article, article_id=article_id, vector=vector, minhash=None, words=0, head=_NONE, pairs=_NONE, lead=_NONE,
        terms=_NONE, counts=_NONE.astype(np.float32), names=_NONE,
    )  # fmt: skip


def recall(index: StoryIndex, queries: Sequence[Any]) -> tuple[float, list[float], float]:
    """`(share of the nearest that is found, seconds of each look-up, mean seconds of an exact search)`."""
    names = list(index.open)
    centroids = np.stack([_centroid(index, name) for name in names])
    at = {name: row for row, name in enumerate(names)}
    right, spent, exact = 0, [], 0.0
    for query in queries:
        began = time.perf_counter()
        found = index.nearest(query, NEAREST)
        spent.append(time.perf_counter() - began)
        began = time.perf_counter()
        cosines = centroids @ query
        least = np.partition(cosines, -NEAREST)[-NEAREST]
        exact += time.perf_counter() - began
        # a story as near as the tenth is as right as the tenth
        right += sum(cosines[at[name]] >= least - 1e-6 for name in set(found))
    return float(right) / (NEAREST * len(queries)), spent, exact / len(queries)


def _centroid(index: StoryIndex, story_id: str) -> Any:
    return index.open[story_id].centroid


def measured(stories: int, updates: int) -> dict[str, float]:
    """Figures of one index."""
    scorer, index = policy_for("en").scorer, StoryIndex()
    firsts: dict[str, ArticleSignals] = {}
    number = 0
    with ProcessPoolExecutor(2) as pool:
        while len(firsts) < stories:
            for found in pool.map(story_generator.chunk, range(number, number + 8)):
                for article, label in found:
                    if label not in firsts and len(firsts) < stories:
                        firsts[label] = bare(article, label, article.vector)
            number += 8
    for label, article in firsts.items():
        index.add(label, scorer.prepare(article), original=True)
    other = [
        article for at in range(LOOKUPS // story_generator.CHUNK) for article, _ in story_generator.chunk(DECIDED + at)
    ]
    queries = [article.vector for article in other]
    began = time.perf_counter()
    index.nearest(queries[0], NEAREST)
    first = time.perf_counter() - began
    before, _, _ = recall(index, queries)
    chance = np.random.default_rng(20260105)
    labels, moved = list(firsts), 0.0
    for at, which in enumerate(chance.integers(0, stories, updates).tolist()):
        article = firsts[labels[which]]
        turn = chance.standard_normal(len(article.vector)).astype(np.float32)
        vector = article.vector + np.float32(TURN) * turn / np.linalg.norm(turn)
        prepared = scorer.prepare(bare(article, f"update-{at}", (vector / np.linalg.norm(vector)).astype(np.float32)))
        began = time.perf_counter()
        index.add(labels[which], prepared, original=True)
        moved += time.perf_counter() - began
    after, spent, exact = recall(index, queries)
    asked = [labels[which] for which in chance.integers(0, stories, LOOKUPS).tolist()]
    own = sum(index.nearest(_centroid(index, label), NEAREST)[:1] == [label] for label in asked)
    return {
        "stories": stories, "updates": updates, "recall": after, "recall_before": before, "recall_moved": own / LOOKUPS,
        "lookup_p50_ms": 1e3 * float(np.percentile(spent, 50)), "lookup_p99_ms": 1e3 * float(np.percentile(spent, 99)),
        "exact_ms": 1e3 * exact, "update_ms": 1e3 * moved / updates, "first_s": first,
    }  # fmt: skip


def main() -> int:
    """Measure, show and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stories", type=int, default=30_000)
    parser.add_argument("--updates", type=int, default=100_000)
    options = parser.parse_args()
    figures = measured(options.stories, options.updates)
    record("neighbours", figures, "the nearest ten stories of a language; other processes shared the processors")
    _, broken = judge("neighbours", figures, Console(), HERE / "targets.toml")
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
