"""What `frontpage rate` asks about and where answers go; and the labels as evaluation and training read them.

Candidates come from the lake's silver tables; an answer is an event on `story.ratings` as soon as it is given, and a
row of `gold/pair_ratings` at the next refresh. Both read without Spark. Not here: which pairs (`domain/rating.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from frontpage.adapters import lake as lakes
from frontpage.adapters.bus import Bus, Outgoing
from frontpage.adapters.lake import Lake
from frontpage.contracts.review_events import PairRating, RatedArticle
from frontpage.contracts.tables import ARTICLES, IMPRESSIONS, PAIR_RATINGS, STORY_MEMBERS, Table
from frontpage.contracts.topics import STORY_RATINGS
from frontpage.domain.rating import Ask, Candidate
from frontpage.errors import UnreadableEvent

_SHOWN: Final = ["article_id", "title", "snippet", "publisher", "publisher_id", "language", "first_seen_at"]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Candidates, and by article id what a person is shown of each."""

    candidates: list[Candidate]
    articles: Mapping[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Label:
    """A pair as persons see it, by majority. Rows are as in files of articles: id, title, text, publisher, lang."""

    left: dict[str, Any]
    right: dict[str, Any]
    same: bool


def shelf(lake: Lake, language: str | None = None) -> Shelf:
    """Originals of open stories; empty while the batch layer has not run."""
    rows = {row["article_id"]: row for row in _rows(lake, ARTICLES, [*_SHOWN, "encoder", "vector"])}
    seen = Counter(row["story_id"] for row in _rows(lake, IMPRESSIONS, ["story_id"]))
    candidates = []
    for member in _rows(lake, STORY_MEMBERS, ["article_id", "story_id", "copy_of", "story_closed"]):
        row = rows.get(member["article_id"])
        if row is None or member["copy_of"] or member["story_closed"] or language not in (None, row["language"]):
            continue
        vector = np.frombuffer(row["vector"] or b"", dtype="<f4")
        if len(vector):
            story = member["story_id"]
            candidates.append(Candidate(row["article_id"], story, row["language"], row["encoder"], vector, seen[story]))
    candidates.sort(key=lambda one: one.article_id)
    return Shelf(candidates, {name: {key: row[key] for key in _SHOWN} for name, row in rows.items()})


def rated(lake: Lake, bus: Bus) -> set[str]:
    """Ids of the pairs that anybody has answered, in the lake and on the topic."""
    known = {row["pair_id"] for row in _rows(lake, PAIR_RATINGS, ["pair_id"])}
    for partition, end in bus.end_offsets(STORY_RATINGS.name).items():
        for record in bus.read(STORY_RATINGS.name, partition, 0, end) if end else ():
            try:
                event = PairRating.decode(record.value)
            except UnreadableEvent:
                continue  # bronze has it with its cause
            if event is not None:
                known.add(event.pair_id)
    return known


def answer(bus: Bus, ask: Ask, articles: Mapping[str, dict[str, Any]], same: bool, *, by: str, now: float) -> None:
    """One answer, acknowledged when this returns; raises ServiceUnavailable."""
    left, right = (RatedArticle.model_validate(articles[name]) for name in (ask.left, ask.right))
    event = PairRating(
        pair_id=ask.pair_id, language=articles[ask.left]["language"], left=left, right=right, kind=ask.kind, same=same,
        cosine=ask.cosine, seen=ask.seen, by=by, at=now,
    )  # fmt: skip
    producer = bus.producer()
    try:
        producer.send([Outgoing(STORY_RATINGS.name, event.pair_id, event.encode())])
    finally:
        producer.close()


def labels(lake: Lake) -> list[Label]:
    """All rated pairs that persons agree on by majority, in order of their ids."""
    votes: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(lake, PAIR_RATINGS):
        votes.setdefault(row["pair_id"], []).append(row)
    found = []
    for _, rows in sorted(votes.items()):
        share = sum(bool(row["same"]) for row in rows) / len(rows)
        if share != 0.5:
            left, right = (_article(rows[0], side) for side in ("left", "right"))
            found.append(Label(left, right, share > 0.5))
    return found


def _article(row: dict[str, Any], side: str) -> dict[str, Any]:
    return {
        "id": row[side], "title": row[f"{side}_title"], "text": row[f"{side}_snippet"] or "",
        "publisher": row[f"{side}_publisher"], "lang": row["language"], "url": "", "published_at": None,
    }  # fmt: skip


def _rows(lake: Lake, table: Table, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """[] while the table does not exist."""
    from deltalake.exceptions import TableNotFoundError

    try:
        arrow = lakes.read_arrow(lake, table)
    except TableNotFoundError:
        return []
    rows: list[dict[str, Any]] = (arrow.select(columns) if columns else arrow).to_pylist()
    return rows
