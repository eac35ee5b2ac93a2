"""What stories need to know of an article: `derive` makes it from title, lead and body, and keeps none of the body.

Everything kept is hashed, counted or of headline length, so the text cannot be read back (licence boundary). Called by
the enrich worker, by `frontpage cluster` and by Spark; the vector comes from an encoder and is attached afterwards
(`with_vector`), as encoders work in batches. Not for extraction (adapters/parse), not for comparing (similarity).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from frontpage.domain import fingerprint
from frontpage.domain.marks import core_title, credit_keys, day_marks, name_words, number_marks
from frontpage.domain.terms import Floats, Ids, counted, hash_tokens, shingles, term_ids, tokens

#: Sentences of the lead that join the title for embedding and for lexical overlap (design: title plus first three).
LEAD_SENTENCES: Final = 3
LEAD_WORDS: Final = 70
#: Words of the text whose 3-word shingles show whether a shorter or longer version starts alike.
SHINGLED_WORDS: Final = 120
LEAD_SHINGLE: Final = 3
MAX_TERMS: Final = 256
#: Bodies are read to this many characters: a page longer than this is not one report.
MAX_CHARACTERS: Final = 60_000

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？؟])[\"'”’»)]*\s+|(?<=[。！？])|\n+")
_EMPTY: Final[Floats] = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class ArticleSignals:
    """Signals of one version of one article. Arrays are never written to after construction.

    vector: float32 [d], unit norm, of `encoder`; empty when there is none (then only words decide).
    simhash: 64 bits. minhash: uint32 [100] or None. head: distinct term ids of title and lead, ascending; pairs: of
    its word pairs; terms/counts: at most 256 term ids of title, lead and body with damped counts; lead: hashes of
    3-word shingles of the beginning of the text; names: term ids of capitalised words.
    numbers, days, credits: folded marks (see marks.py); entities: names from the tagger. words: length of the text.
    at: when it was published, else first seen; None when neither is known: time then decides nothing.
    """

    article_id: str
    version: int
    language: str
    publisher_id: str
    title: str
    core: str
    vector: Floats
    encoder: str
    simhash: int
    minhash: fingerprint.Minhash | None
    head: Ids
    pairs: Ids
    terms: Ids
    counts: Floats
    lead: Ids
    names: Ids
    numbers: frozenset[str]
    days: frozenset[str]
    credits: frozenset[str]
    entities: frozenset[str]
    words: int
    at: float | None
    kind: str = "news"

    def with_vector(self, vector: Floats, encoder: str) -> ArticleSignals:
        """The same signals with a vector (float32 [d], unit norm) of encoder version `encoder`."""
        return replace(self, vector=vector, encoder=encoder)


def lead_of(body: str) -> str:
    """The first three sentences of a text, at most `LEAD_WORDS` words."""
    sentences = [part.strip() for part in _SENTENCE.split(body[:4_000]) if part and part.strip()]
    words = " ".join(sentences[:LEAD_SENTENCES]).split()
    return " ".join(words[:LEAD_WORDS])


def embedding_text(title: str, lead: str, body: str = "") -> str:
    """What the encoder reads: the title and the first three sentences of the lead, or of the body without one."""
    start = lead_of(lead) or lead_of(body)
    return f"{title.strip()}. {start}".strip(". ") if start else title.strip()


def derive(
    *,
    article_id: str,
    title: str,
    lead: str = "",
    body: str = "",
    language: str = "und",
    publisher_id: str = "",
    publisher: str = "",
    entities: Iterable[str] = (),
    at: float | None = None,
    version: int = 1,
    kind: str = "news",
) -> ArticleSignals:
    """Signals of one article without its vector. Missing texts are empty strings; nothing raises on odd text.

    `publisher` is the site's name, which is taken out of titles before they are compared. Without a body the lead
    stands for it.
    """
    title, lead, body = title[:1_000], lead[:MAX_CHARACTERS], (body or lead)[:MAX_CHARACTERS]
    core = core_title(title, publisher, publisher_id)
    start = lead_of(lead) or lead_of(body)
    title_hashes = hash_tokens(tokens(core))
    start_hashes = hash_tokens(tokens(start))
    body_hashes = hash_tokens(tokens(body))
    everything = np.concatenate([title_hashes, start_hashes if not len(body_hashes) else body_hashes])
    ids, counts = _heaviest(*counted(term_ids(everything)))
    return ArticleSignals(
        article_id=article_id,
        version=version,
        language=language,
        publisher_id=publisher_id,
        title=title,
        core=core,
        vector=_EMPTY,
        encoder="",
        simhash=fingerprint.simhash(body_hashes if len(body_hashes) else title_hashes),
        minhash=fingerprint.minhash(body_hashes),
        head=np.unique(term_ids(np.concatenate([title_hashes, start_hashes]))),
        pairs=np.unique(np.concatenate([term_ids(shingles(title_hashes, 2)), term_ids(shingles(start_hashes, 2))])),
        terms=ids,
        counts=counts,
        lead=np.unique(term_ids(shingles(body_hashes[:SHINGLED_WORDS], LEAD_SHINGLE))),
        names=np.unique(term_ids(hash_tokens(name_words(core, start)))),
        numbers=number_marks(f"{core} . {start}"),
        days=day_marks(f"{core} . {start}"),
        credits=credit_keys(body, publisher),
        entities=frozenset(entity.casefold() for entity in entities if entity),
        words=len(body_hashes),
        at=at,
        kind=kind,
    )


def _heaviest(ids: Ids, counts: Floats) -> tuple[Ids, Floats]:
    """At most MAX_TERMS ids, the most frequent first kept (ties by id, so the choice is stable), ascending."""
    if len(ids) <= MAX_TERMS:
        return ids, counts
    keep = np.sort(np.lexsort((ids, -counts))[:MAX_TERMS])
    return ids[keep], counts[keep]
