"""How alike two articles are: named features of a pair, and the scorer that turns them into a log-odds of one event.

Features are computed for one article against many at once (numpy over concatenated arrays), by the writer for each
arrival, by repair, by Spark and by `frontpage similarity` alike. The scorer is logistic or gradient-boosted trees,
learned by `benchmarks/train_scorer.py`, one per language group, evaluated here without its learning library.
Not for choosing candidates (clustering.py) and not for copies (copies.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log1p
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from frontpage.domain.article import ArticleSignals
from frontpage.domain.fingerprint import MINHASH_SIZE
from frontpage.domain.marks import is_date_word
from frontpage.domain.subjects import MIN_WORDS, SHARED, Subjects, akin, contradiction, subjects
from frontpage.domain.templates import Headline, headline, penalty, same_beginning
from frontpage.domain.terms import Floats, Ids, TermWeights, hash_tokens, term_ids, tokens, weigh

Matrix = npt.NDArray[np.float32]
HOUR: Final = 3_600.0

#: Order of the columns of `PairScorer.features`; a model names the ones it uses.
FEATURES: Final = (
    "dense",  # cosine of the vectors
    "dense_z",  # the same, in deviations from each side's cosines with a fixed background
    "head",  # TF-IDF cosine over words of title and lead
    "title",  # TF-IDF cosine over words of the core titles
    "pairs",  # TF-IDF cosine over word pairs of title and lead
    "terms",  # TF-IDF cosine over words of title, lead and body; that of `head` when a side has no body
    "rarest",  # idf of the rarest word of title and lead that both have, over 10
    "shared",  # ln(1 + sum of the idf of shared words of title and lead)
    "names",  # TF-IDF cosine over capitalised words
    "names_inside",  # share of the idf of the shorter list of names that the other has too
    "lead_inside",  # share of the shorter beginning's 3-word shingles that the other has too
    "minhash",  # estimated Jaccard of the texts' 5-word shingles
    "numbers_shared",  # share of the fewer numbers that the other has too
    "numbers_differ",  # 1 when both name numbers and share none
    "days_differ",  # 1 when both name weekdays or dates and share none
    "days_shared",  # 1 when both name the same weekday or date
    "bodies",  # how many of the two have a text beyond the title: 0, 0.5, 1
    "brief",  # 1 / (1 + fewer words of the two heads / 10): how little there is to compare
    "gap",  # ln(1 + hours apart / 6), 0 when a time is unknown
    "timed",  # 1 when both times are known
    "entities",  # ln(1 + tagged entities in common), 0 when a side has none
)
_COLUMN: Final = {name: column for column, name in enumerate(FEATURES)}


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """A fixed sample of what texts of one encoder look like: `centres` float32 [k, d], unit norm.

    `near` is how many nearest centres make the local mean and deviation of a vector.
    """

    centres: Matrix
    near: int = 16

    def scale(self, vector: Floats) -> tuple[float, float]:
        """Mean and deviation of the vector's cosines with its nearest centres."""
        cosines = self.centres @ vector
        nearest = np.partition(cosines, -self.near)[-self.near :]
        return float(nearest.mean()), float(cosines.std()) + 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """An article with its words weighed once, ready to be compared many times."""

    article: ArticleSignals
    mean: float
    deviation: float
    head_idf: Floats
    head: Floats
    title_ids: Ids
    title: Floats
    pairs: Floats
    terms: Floats
    names_idf: Floats
    names: Floats
    headline: Headline
    subjects: Subjects


class PairScorer:
    """Features and log-odds for the articles of one encoder and one language group.

    `model` is `LogisticModel` or `TreesModel`; log-odds 0 means as likely one event as not, on the training mix.
    """

    def __init__(self, model: Model, weights: TermWeights, background: Background | None) -> None:
        self.model = model
        self.weights = weights
        self.background = background
        self._columns = [_COLUMN[name] for name in model.features]

    def prepare(self, article: ArticleSignals) -> Prepared:
        """Weigh the article's words with the weights as they are now."""
        words = tokens(article.core)
        word_ids = term_ids(hash_tokens(words))
        title_ids = np.unique(word_ids)
        unknown = self.weights.unknown(word_ids)
        groups = (article.head, article.names, title_ids, article.pairs, article.terms)
        idf = self.weights.idf(np.concatenate(groups))
        head_idf, names_idf, title_idf, pairs_idf, terms_idf = np.split(idf, np.cumsum([len(g) for g in groups[:-1]]))
        mean, deviation = 0.0, 1.0
        if self.background is not None and len(article.vector) == self.background.centres.shape[1]:
            mean, deviation = self.background.scale(article.vector)
        rare = [word for word, new in zip(words, unknown, strict=True) if new]
        taken = headline(article.core, rare, _recurring(article))
        named = sorted(word for word in taken.names if taken.cased and not is_date_word(word))
        return Prepared(
            article=article,
            mean=mean,
            deviation=deviation,
            head_idf=head_idf,
            head=weigh(None, head_idf),
            title_ids=title_ids,
            title=weigh(None, title_idf),
            pairs=weigh(None, pairs_idf),
            terms=weigh(article.counts, terms_idf),
            names_idf=names_idf,
            names=weigh(None, names_idf),
            headline=taken,
            subjects=subjects(
                np.unique(term_ids(hash_tokens(named))),
                article.names,
                self.weights.idf,
                known=np.union1d(article.head, article.terms),
                telling=taken.telling and not (len(named) < 2 and article.language in _SYLLABIC),
            ),
        )

    def features(self, one: Prepared, others: Sequence[Prepared]) -> Matrix:
        """float32 [n, len(FEATURES)] of `one` against each of `others`; symmetric in the two sides."""
        count = len(others)
        table = np.zeros((count, len(FEATURES)), dtype=np.float32)
        if not count:
            return table
        a = one.article
        if len(a.vector):
            size = len(a.vector)
            known = [i for i, other in enumerate(others) if len(other.article.vector) == size]
            if known:
                cosine = np.stack([others[i].article.vector for i in known]) @ a.vector
                table[known, 0] = cosine
                means = np.array([others[i].mean for i in known], dtype=np.float32)
                spread = np.array([others[i].deviation for i in known], dtype=np.float32)
                table[known, 1] = ((cosine - one.mean) / one.deviation + (cosine - means) / spread) / 10.0
        at, segment, shared = _shared(a.head, [other.article.head for other in others])
        heads = np.concatenate([other.head for other in others])
        table[:, 2] = _sum(segment, one.head[at] * heads[shared], count)
        idf = one.head_idf[at]
        np.maximum.at(table[:, 6], segment, idf / 10.0)
        table[:, 7] = np.log1p(_sum(segment, idf, count))
        table[:, 3] = _cosine(one.title_ids, one.title, [o.title_ids for o in others], [o.title for o in others])
        table[:, 4] = _cosine(a.pairs, one.pairs, [o.article.pairs for o in others], [o.pairs for o in others])
        table[:, 5] = _cosine(a.terms, one.terms, [o.article.terms for o in others], [o.terms for o in others])
        # A title against a whole text says little by its length alone: then title and lead decide.
        bodies = np.array([bool(other.article.words) for other in others])
        table[:, 5] = np.where(bodies if a.words else False, table[:, 5], table[:, 2])
        at, segment, shared = _shared(a.names, [other.article.names for other in others])
        names = np.concatenate([other.names for other in others])
        table[:, 8] = _sum(segment, one.names[at] * names[shared], count)
        fewer = np.array([float(other.names_idf.sum()) for other in others], dtype=np.float32)
        fewer = np.minimum(fewer, float(one.names_idf.sum()))
        table[:, 9] = _sum(segment, one.names_idf[at], count) / np.maximum(fewer, 1.0)
        _, segment, _ = _shared(a.lead, [other.article.lead for other in others])
        fewest = np.array([min(len(a.lead), len(other.article.lead)) for other in others], dtype=np.float32)
        table[:, 10] = _sum(segment, np.ones(len(segment), dtype=np.float32), count) / np.maximum(fewest, 1.0)
        for row, other in enumerate(others):
            self._marks(table[row], a, other.article)
        return table

    @staticmethod
    def _marks(row: Floats, a: ArticleSignals, b: ArticleSignals) -> None:
        if a.minhash is not None and b.minhash is not None:
            row[11] = np.count_nonzero(a.minhash == b.minhash) / MINHASH_SIZE
        if a.numbers and b.numbers:
            shared = len(a.numbers & b.numbers)
            row[12] = shared / min(len(a.numbers), len(b.numbers))
            row[13] = not shared
        if a.days and b.days:
            same = not a.days.isdisjoint(b.days)
            row[14], row[15] = not same, same
        row[16] = 0.5 * (a.words > 0) + 0.5 * (b.words > 0)
        row[17] = 1.0 / (1.0 + min(len(a.head), len(b.head)) / 10.0)
        if a.at is not None and b.at is not None:
            row[18] = log1p(abs(a.at - b.at) / HOUR / 6.0)
            row[19] = 1.0
        if a.entities and b.entities:
            row[20] = log1p(len(a.entities & b.entities))

    def logits(self, one: Prepared, others: Sequence[Prepared]) -> Floats:
        """float32 [n]: log-odds that `one` and each other report one event, look-alike templates held apart."""
        if not others:
            return np.empty(0, dtype=np.float32)
        return self.judge(one, others, self.features(one, others))

    def plain(self, table: Matrix) -> Floats:
        """float32 [n]: log-odds by features and time alone, look-alike templates not held apart."""
        values = self.model.logits(table[:, self._columns])
        values -= np.float32(LATER) * np.maximum(table[:, 18] - np.float32(_SAME_DAY), 0.0)
        return values

    def judge(self, one: Prepared, others: Sequence[Prepared], table: Matrix, plain: Floats | None = None) -> Floats:
        """`logits` for a table of features, and its `plain` log-odds, that have been computed already."""
        values = self.plain(table) if plain is None else plain.copy()
        for row in np.flatnonzero(values > _HOPELESS):
            values[row] -= self.lost(one, others[int(row)], table[row])
        return values

    def told_apart(self, one: Prepared, other: Prepared) -> bool:
        """Whether something says that two texts of equal wording are one template about two things."""
        return self.lost(one, other, self.features(one, [other])[0]) > 0.0

    @staticmethod
    def lost(one: Prepared, other: Prepared, row: Floats) -> float:
        """Log-odds that a pair loses by what tells it apart; `row` is its row of features."""
        alike = row[3] > _LOOKALIKE or row[2] > _LOOKALIKE
        lost = penalty(one.headline, other.headline, one.article, other.article) if alike else 0.0
        if lost or min(one.article.words, other.article.words) < MIN_WORDS:
            return lost
        left, right = one.headline, other.headline
        scores_differ = bool(left.scores and right.scores and left.scores.isdisjoint(right.scores))
        versions = row[10] > 0.5 and same_beginning(one.article, other.article)
        if row[8] >= SHARED and not scores_differ and not versions:
            return 0.0
        lost = contradiction(
            one.subjects,
            other.subjects,
            names=float(row[8]),
            numbers_differ=bool(row[13]),
            scores_differ=scores_differ,
            versions=versions,
        )
        return 0.0 if lost and akin(left.names, right.names) else lost


#: Log-odds lost for each unit of ln(1 + hours / 6) apart beyond a day: 0.9 after two days, 3.9 after 17. Set by hand:
#: labelled sets have no times, or times that are the label. An unknown time decides nothing.
LATER: Final = 1.5
_SAME_DAY: Final = float(np.log1p(4.0))
#: Title cosine above which two titles may be one template with another name in it.
_LOOKALIKE: Final = 0.3
#: Languages written in syllables, where a single capital is less than a name.
_SYLLABIC: Final = frozenset({"vi"})
#: Log-odds below which nothing more need be said against a pair.
_HOPELESS: Final = -6.0
#: Places for marks of an article's ids (at most 256 of a kind): one in sixty of other ids falls on one by chance.
_MARKS: Final = 1 << 14


def _recurring(article: ArticleSignals) -> Ids:
    """Term ids that the article has more than once, in title and text together."""
    found: Ids = article.terms[article.counts > 1.0]
    return found


def _shared(ids: Ids, others: Sequence[Ids]) -> tuple[Any, Any, Any]:
    """For ids that `others` have too: position in `ids`, which other, position in the concatenation of others."""
    joined = np.concatenate(others)
    if not len(ids) or not len(joined):
        nothing = np.empty(0, dtype=np.intp)
        return nothing, nothing, nothing
    # Most ids are not shared, and a look at their last bits says so sooner than a search.
    marked = np.zeros(_MARKS, dtype=bool)
    marked[ids & (_MARKS - 1)] = True
    likely = np.flatnonzero(marked[joined & (_MARKS - 1)])
    wanted = joined[likely]
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    same = ids[at] == wanted
    shared = likely[same]
    ends = np.cumsum([len(other) for other in others])
    return at[same], np.searchsorted(ends, shared, side="right"), shared


def _sum(segment: Any, values: Any, count: int) -> Any:
    return np.bincount(segment, weights=values, minlength=count)[:count]


def _cosine(ids: Ids, weights: Floats, others: Sequence[Ids], other_weights: Sequence[Floats]) -> Any:
    at, segment, shared = _shared(ids, others)
    return _sum(segment, weights[at] * np.concatenate(other_weights)[shared], len(others))


@dataclass(frozen=True, slots=True, eq=False)
class LogisticModel:
    """`bias + weights . features`."""

    features: tuple[str, ...]
    weights: Floats
    bias: float

    def logits(self, table: Matrix) -> Floats:
        """float32 [n] for float32 [n, len(features)]."""
        return (table @ self.weights + np.float32(self.bias)).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class TreesModel:
    """Gradient-boosted trees as arrays, one row a tree: go left where `feature <= threshold`; negative child = ~leaf.

    split int16 [t, n], threshold float32 [t, n], left/right int16 [t, n], leaf float32 [t, n + 1].
    """

    features: tuple[str, ...]
    split: npt.NDArray[np.int16]
    threshold: Matrix
    left: npt.NDArray[np.int16]
    right: npt.NDArray[np.int16]
    leaf: Matrix
    bias: float
    depth: int
    _walk: tuple[Any, Any, Any, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Lay all trees out in one row of nodes, leaves included, each leaf leading to itself: no node is special."""
        trees, inner = self.split.shape
        width = inner + self.leaf.shape[1]
        first = np.arange(trees)[:, None] * width
        split = np.zeros((trees, width), dtype=np.intp)
        split[:, :inner] = self.split
        threshold = np.full((trees, width), np.inf, dtype=np.float32)
        threshold[:, :inner] = self.threshold
        child = np.repeat((first + np.arange(width))[:, :, None], 2, axis=2)
        for side, below in enumerate((self.left, self.right)):
            child[:, :inner, side] = first + np.where(below >= 0, below, inner + ~np.minimum(below, -1))
        value = np.zeros((trees, width), dtype=np.float32)
        value[:, inner:] = self.leaf
        object.__setattr__(self, "_walk", (split.ravel(), threshold.ravel(), child.ravel(), value.ravel()))

    def logits(self, table: Matrix) -> Floats:
        """float32 [n] for float32 [n, len(features)]; all trees walk one level at a time."""
        split, threshold, child, value = self._walk
        flat = np.ascontiguousarray(table).ravel()
        row = np.arange(len(table))[:, None] * table.shape[1]
        trees = len(self.split)
        node = np.broadcast_to(np.arange(trees) * (len(split) // trees), (len(table), trees))
        for _ in range(self.depth):
            goes_left = flat.take(split.take(node) + row) <= threshold.take(node)
            node = child.take(2 * node + ~goes_left)
        values: Floats = (value.take(node).sum(axis=1) + self.bias).astype(np.float32)
        return values


Model = LogisticModel | TreesModel
