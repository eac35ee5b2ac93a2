"""The writer's memory of one language: open stories by vector, by rare word and by fingerprint band.

Exact search up to `EXACT` stories (a 384-d product over 20,000 centroids takes about 3 ms), usearch's HNSW above.
Holds no decision: it proposes candidates, `clustering.py` scores them. Rebuilt from the book at start.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from frontpage.domain.fingerprint import MIN_WORDS, minhash_bands, simhash_bands
from frontpage.domain.similarity import Prepared
from frontpage.domain.terms import Floats

EXACT: Final = 20_000
#: Weight of a new article in the centroid once a story has 1 / RECENT members: the centroid follows the coverage.
RECENT: Final = 0.1
#: Rare words of an article that are looked up, and stories kept for each (newest): bounds the work, not the recall.
_LOOKUPS, _POSTINGS = 12, 64


@dataclass(slots=True, eq=False)
class Open:
    """An open story: its originals, prepared, in order of joining, and its centroid."""

    story_id: str
    originals: list[Prepared] = field(default_factory=list)
    centroid: Floats | None = None
    slot: int = -1
    words: dict[int, float] = field(default_factory=dict)
    length: float = 0.0

    def gather(self, prepared: Prepared, sign: float = 1.0) -> None:
        """Add an original's words to the story's vocabulary, or take them out."""
        words, length = self.words, self.length
        for word, weight in zip(prepared.article.head.tolist(), prepared.head.tolist(), strict=True):
            before = words.get(word, 0.0)
            after = before + sign * weight
            length += after * after - before * before
            words[word] = after
        self.length = max(length, 0.0)

    def vocabulary(
        self, article: Sequence[tuple[int, float, float]], total: float, *, without: bool = False
    ) -> tuple[float, float]:
        """Cosine of the article's words with the story's, and the share of the article's weight that the story knows.

        `article` and `total` are `weighed_words` of it; `without` takes the article's own share out first, for one that
        is a member.
        """
        dot = known = 0.0
        less = 1.0 if without else 0.0
        words = self.words
        for word, weight, idf in article:
            held = words.get(word)
            if held is not None and (held := held - less * weight) > 1e-6:
                dot += held * weight
                known += idf
        norm = math.sqrt(max(self.length - (2.0 * dot + 1.0 if without else 0.0), 1e-9))
        return min(dot / norm, 1.0), known / max(total, 1e-9)

    def sample(self, size: int) -> list[Prepared]:
        """At most `size` originals spread evenly over the story's life, first and last included."""
        count = len(self.originals)
        if count <= size:
            return self.originals
        return [self.originals[round(step * (count - 1) / (size - 1))] for step in range(size)]


class StoryIndex:
    """Candidates for one language and one encoder. Stories of other encoders are found by words only."""

    def __init__(self) -> None:
        self.open: dict[str, Open] = {}
        self.articles: dict[str, Prepared] = {}
        self._matrix = np.zeros((0, 0), dtype=np.float32)
        self._slots: list[str | None] = []
        self._free: list[int] = []
        self._words: dict[int, dict[str, None]] = defaultdict(dict)
        self._bands: dict[Any, dict[str, None]] = defaultdict(dict)
        self._graph: Any = None

    def add(self, story_id: str, prepared: Prepared, *, original: bool) -> None:
        """An article joins a story (made when new)."""
        article = prepared.article
        self.articles[article.article_id] = prepared
        for band in _bands(prepared):
            self._bands[band][article.article_id] = None
        story = self.open.get(story_id)
        if story is None:
            story = self.open[story_id] = Open(story_id)
        if not original and story.originals:
            return
        story.originals.append(prepared)
        story.gather(prepared)
        for word in _rarest(prepared):
            stories = self._words[word]
            stories.pop(story_id, None)
            stories[story_id] = None
            if len(stories) > _POSTINGS:
                del stories[next(iter(stories))]
        if len(article.vector):
            self._place(story, article.vector)

    def remove(self, story_id: str) -> None:
        """A story left: closed, merged away or about to be rebuilt."""
        story = self.open.pop(story_id, None)
        if story is None:
            return
        for prepared in story.originals:
            for word in _rarest(prepared):
                if word in self._words:
                    self._words[word].pop(story_id, None)
                    if not self._words[word]:
                        del self._words[word]
        if story.slot >= 0:
            self._matrix[story.slot] = 0.0
            self._slots[story.slot] = None
            self._free.append(story.slot)
            if self._graph is not None:
                self._graph.remove(story.slot)

    def forget(self, article_ids: Iterable[str]) -> None:
        """Articles that are in no open story any more."""
        for article_id in article_ids:
            prepared = self.articles.pop(article_id, None)
            for band in _bands(prepared) if prepared is not None else ():
                if band in self._bands:
                    self._bands[band].pop(article_id, None)
                    if not self._bands[band]:
                        del self._bands[band]

    def nearest(self, vector: Floats, count: int) -> list[str]:
        """The stories with the nearest centroids, nearest first; ties by age of the slot."""
        if not len(vector) or self._matrix.shape[1] != len(vector):
            return []
        if len(self._slots) > EXACT:
            return self._search_graph(vector, count)
        cosines = self._matrix[: len(self._slots)] @ vector
        count = min(count, len(cosines))
        best = np.argpartition(-cosines, count - 1)[:count] if count < len(cosines) else np.arange(len(cosines))
        order = best[np.lexsort((best, -cosines[best]))]
        return [story for slot in order if (story := self._slots[slot]) is not None]

    def by_words(self, prepared: Prepared, count: int) -> list[str]:
        """The stories that share the most weight of rare words with the article."""
        scores: dict[str, float] = {}
        weights = dict(zip(prepared.article.head.tolist(), prepared.head_idf.tolist(), strict=True))
        for word in _rarest(prepared):
            for story_id in self._words.get(word, ()):
                scores[story_id] = scores.get(story_id, 0.0) + weights[word]
        return sorted(scores, key=lambda story_id: (-scores[story_id], story_id))[:count]

    def alike(self, prepared: Prepared) -> list[Prepared]:
        """Articles that share a fingerprint band, in order of arrival."""
        found: dict[str, None] = {}
        for band in _bands(prepared):
            found.update(self._bands.get(band, {}))
        found.pop(prepared.article.article_id, None)
        return [self.articles[article_id] for article_id in found]

    def _place(self, story: Open, vector: Floats) -> None:
        if self._matrix.shape[1] != len(vector):
            if self._matrix.size:
                return
            self._matrix = np.zeros((256, len(vector)), dtype=np.float32)
        if story.centroid is None:
            centroid = vector
        else:
            share = max(1.0 / len(story.originals), RECENT)
            centroid = story.centroid * np.float32(1.0 - share) + vector * np.float32(share)
            centroid = centroid / np.float32(max(float(np.linalg.norm(centroid)), 1e-9))
        story.centroid = centroid
        if story.slot < 0:
            if self._free:
                story.slot = self._free.pop()
                self._slots[story.slot] = story.story_id
            else:
                story.slot = len(self._slots)
                self._slots.append(story.story_id)
                if story.slot == len(self._matrix):
                    self._matrix = np.vstack([self._matrix, np.zeros_like(self._matrix)])
        elif self._graph is not None:
            self._graph.remove(story.slot)
        self._matrix[story.slot] = centroid
        if self._graph is not None:
            self._graph.add(story.slot, centroid)

    def _search_graph(self, vector: Floats, count: int) -> list[str]:
        if self._graph is None:
            from usearch.index import Index

            self._graph = Index(ndim=len(vector), metric="ip", dtype="f32", connectivity=16, expansion_search=96)
            taken = [slot for slot, story in enumerate(self._slots) if story is not None]
            self._graph.add(np.array(taken), self._matrix[taken], threads=1)
        keys = self._graph.search(vector, count, threads=1).keys
        return [story for slot in keys if (story := self._slots[int(slot)]) is not None]


def weighed_words(prepared: Prepared) -> tuple[list[tuple[int, float, float]], float]:
    """Words of title and lead with weight and idf, and the sum of the idf."""
    idf = prepared.head_idf.tolist()
    return list(zip(prepared.article.head.tolist(), prepared.head.tolist(), idf, strict=True)), sum(idf)


def _rarest(prepared: Prepared) -> list[int]:
    ids = prepared.article.head
    order = np.lexsort((ids, -prepared.head_idf))[:_LOOKUPS]
    return [int(ids[at]) for at in order]


def _bands(prepared: Prepared) -> list[Any]:
    article = prepared.article
    if article.words < MIN_WORDS:
        return []
    return [*simhash_bands(article.simhash), *minhash_bands(article.minhash)]
