"""Gold tables to serving: Redis documents with their watermarks, and proposals to the writers.

Documents first, the pointer in `versions` last, so that whoever follows a pointer finds the document. Publishing the
same tables again changes nothing; an older product never replaces a newer one. Reads Delta without Spark.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from batch import gold_entities, gold_terms, ranker, section_training
from frontpage.adapters import lake as lakes
from frontpage.adapters.bus import Bus, Outgoing
from frontpage.adapters.lake import Lake
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts import batch_views, views
from frontpage.contracts.batch_views import (
    AuthorityDocument,
    ClicksDocument,
    ModelDocument,
    NamesDocument,
    ProjectionDocument,
    SlogansDocument,
    TermsDocument,
)
from frontpage.contracts.events import StoryProposal
from frontpage.contracts.profiles import slow_from_json
from frontpage.contracts.tables import (
    CLICKS,
    ENTITIES,
    IMPRESSIONS,
    PUBLISHER_AUTHORITY,
    READER_PROFILES,
    RECLUSTERS,
    STORY_MEMBERS,
    TERM_WEIGHTS,
    TITLE_SLOGANS,
    VECTOR_PROJECTION,
    Table,
)
from frontpage.contracts.topics import STORY_PROPOSALS
from frontpage.domain.authority import DEFAULT_PRIOR
from frontpage.domain.ids import digest
from frontpage.domain.languages import partition_of
from frontpage.domain.merge import Counts, by_story

if TYPE_CHECKING:
    import redis

#: Documents a pipeline holds: a slow profile has about 5 kB.
PIPELINE: Final = 500
#: Real seconds that a replaced table or dictionary stays, for readers that have just followed the pointer to them.
LINGER: Final = 3_600


def everything(lake: Lake, store: redis.Redis, now: float) -> dict[str, int]:
    """Publish all views; number of documents by kind."""
    return {
        "projections": projections(lake, store),
        "profiles": profiles(lake, store),
        "authority": authority(lake, store),
        "clicks": clicks(lake, store, now),
        "models": model(lake, store) + sections(lake, store),
        "term_weights": terms(lake, store),
        "names": names(lake, store),
        "slogans": slogans(lake, store, now),
    }


def projections(lake: Lake, store: redis.Redis) -> int:
    """The newest projection of each encoder; each is immutable under its version."""
    newest: dict[str, dict[str, Any]] = {}
    for row in _rows(lake, VECTOR_PROJECTION):
        if row["encoder"] not in newest or row["at"] > newest[row["encoder"]]["at"]:
            newest[row["encoder"]] = row
    with store_errors():
        for encoder, row in newest.items():
            matrix = np.frombuffer(row["matrix"], dtype="<f4").astype(np.float32).reshape(row["dimension"], -1)
            document = ProjectionDocument.pack(
                row["version"], encoder, matrix, fitted_on=row["fitted_on"], explained=row["explained"], at=row["at"]
            )
            store.set(views.PROJECTION.key(version=document.version), document.model_dump_json())
            store.hset(views.VERSIONS.key(), batch_views.projection_pointer(encoder), document.version)
    return len(newest)


def profiles(lake: Lake, store: redis.Redis) -> int:
    """Slow profiles made since the last publication; an erased reader's key is removed."""
    with store_errors():
        before = float(_text(store.hget(views.VERSIONS.key(), batch_views.PROFILES_POINTER)) or "-inf")
    rows = [row for row in _rows(lake, READER_PROFILES) if row["as_of"] > before]
    for start in range(0, len(rows), PIPELINE):
        with store_errors():
            pipeline = store.pipeline(transaction=False)
            for row in rows[start : start + PIPELINE]:
                key = views.PROFILE_SLOW.key(reader=row["reader"])
                profile = slow_from_json(row["document"].encode()).profile
                if profile.deleted_at is not None and not profile.engagements and not profile.registers:
                    pipeline.delete(key)
                else:
                    pipeline.set(key, row["document"], ex=views.PROFILE_SLOW.ttl)
            pipeline.execute()
    if rows:
        _point(store, batch_views.PROFILES_POINTER, repr(max(row["as_of"] for row in rows)))
    return len(rows)


def authority(lake: Lake, store: redis.Redis) -> int:
    """One document for all publishers; number of publishers."""
    rows = _rows(lake, PUBLISHER_AUTHORITY)
    if not rows:
        return 0
    by_publisher: dict[str, dict[str, float]] = {}
    for row in rows:
        by_publisher.setdefault(row["publisher_id"], {})[row["topic"]] = round(row["authority"], 4)
    at = max(row["at"] for row in rows)
    document = AuthorityDocument(
        version=f"authority-{int(at)}", at=at, default=DEFAULT_PRIOR, by_publisher=by_publisher
    )
    with store_errors():
        store.set(views.AUTHORITY.key(), document.model_dump_json())
    _point(store, batch_views.AUTHORITY_POINTER, document.version)
    return len(by_publisher)


def clicks(lake: Lake, store: redis.Redis, now: float) -> int:
    """Counted clicks by article and by present story with their watermark; number of articles.

    Counts and watermark come from one version of silver clicks: a place that silver has not seen yet is the speed
    layer's. Places of clicks that do not count (bots) in between are covered, as offsets are read in order.
    """
    story_of = {row["article_id"]: row["story_id"] for row in _rows(lake, STORY_MEMBERS, ["article_id", "story_id"])}
    rows = _rows(lake, CLICKS, ["article_id", "topic", "partition", "offset"])
    by_article = _tally(rows)
    watermark: dict[str, int] = {}
    for row in rows:
        source = f"{row['topic']}/{row['partition']}"
        watermark[source] = max(watermark.get(source, 0), row["offset"] + 1)
    shown = _tally(_rows(lake, IMPRESSIONS, ["article_id"]))
    document = ClicksDocument(
        version=f"clicks-{int(now)}",
        at=now,
        watermark=watermark,
        by_article=by_article,
        by_story=by_story(Counts(by_article), story_of.get),
        impressions=by_story(Counts(shown), story_of.get),
    )
    with store_errors():
        store.set(views.CLICKS_BATCH.key(), document.model_dump_json())
    _point(store, batch_views.CLICKS_POINTER, document.version)
    return len(by_article)


def model(lake: Lake, store: redis.Redis) -> int:
    """The current ranker, if there is one; its version is the pointer serving watches."""
    row = ranker.current(lake)
    if row is None:
        return 0
    _send_model(store, row, batch_views.RANKER_POINTER)
    return 1


def _send_model(store: redis.Redis, row: dict[str, Any], pointer: str) -> None:
    document = ModelDocument(
        version=row["version"], features_version=row["features_version"], names=row["names"],
        model_text=row["model_text"], metrics=row["metrics"], trained_on=row["trained_on"], at=row["at"],
    )  # fmt: skip
    with store_errors():
        store.set(views.MODEL.key(version=document.version), document.model_dump_json())
    _point(store, pointer, document.version)


def sections(lake: Lake, store: redis.Redis) -> int:
    """The current section model of each encoder; its version is the pointer that enrich watches."""
    rows = [r for r in ranker.models(lake) if r["kind"] == section_training.KIND and r["stage"] == "current"]
    for row in rows:
        _send_model(store, row, batch_views.sections_pointer(row["features_version"]))
    return len(rows)


def terms(lake: Lake, store: redis.Redis) -> int:
    """The term weights of each language with enough stories."""
    rows = _rows(lake, TERM_WEIGHTS)
    at = max((row["at"] for row in rows), default=0.0)
    tables = gold_terms.tables(rows)
    for language, table in tables.items():
        document = TermsDocument.pack(language, table, at)
        _switch(store, batch_views.terms_pointer(language), views.TERMS, document)
    return len(tables)


def names(lake: Lake, store: redis.Redis) -> int:
    """The dictionary of each language; number of names."""
    rows = _rows(lake, ENTITIES)
    at = max((row["at"] for row in rows), default=0.0)
    for language, (version, entries) in gold_entities.dictionaries(rows).items():
        whole = [entry.name for entry in entries if not entry.alone]
        alone = [entry.name for entry in entries if entry.alone]
        document = NamesDocument(version=version, language=language, names=whole, alone=alone, at=at)
        _switch(store, batch_views.names_pointer(language), views.NAMES, document)
    return len(rows)


def slogans(lake: Lake, store: redis.Redis, now: float) -> int:
    """One document for all publishers; number of slogans."""
    rows = sorted((row["publisher_id"], row["slogan"]) for row in _rows(lake, TITLE_SLOGANS))
    by_publisher: dict[str, list[str]] = {}
    for publisher, slogan in rows:
        by_publisher.setdefault(publisher, []).append(slogan)
    version = f"slogans-{digest(json.dumps(rows), 12)}"
    document = SlogansDocument(version=version, at=now, by_publisher=by_publisher)
    with store_errors():
        store.set(views.SLOGANS.key(), document.model_dump_json())
    _point(store, batch_views.SLOGANS_POINTER, version)
    return len(rows)


def _switch(store: redis.Redis, pointer: str, view: views.View, document: TermsDocument | NamesDocument) -> None:
    """Publish a document under its version, move the pointer; the version before goes after `LINGER`."""
    with store_errors():
        before = _text(store.hget(views.VERSIONS.key(), pointer))
        if before == document.version:
            return
        store.set(view.key(version=document.version), document.model_dump_json())
    _point(store, pointer, document.version)
    if before:
        with store_errors():
            store.expire(view.key(version=before), LINGER)


def proposals(lake: Lake, bus: Bus) -> int:
    """Send the proposals of the last re-clustering to their languages' writers; the writers judge them again."""
    records = [_record(row) for row in _rows(lake, RECLUSTERS)]
    if records:
        producer = bus.producer()
        try:
            producer.send(records)
        finally:
            producer.close()
    return len(records)


def _record(row: dict[str, Any]) -> Outgoing:
    event = StoryProposal(
        proposal_id=row["proposal_id"], language=row["language"], kind=row["kind"], stories=row["stories"],
        groups=row["groups"] or [], evidence=json.loads(row["evidence"] or "{}"),
        watermark=dict(row["watermark"] or []), at=row["at"],
    )  # fmt: skip
    return Outgoing(STORY_PROPOSALS.name, event.language, event.encode(), partition_of(event.language))


def _rows(lake: Lake, table: Table, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """[] while the table does not exist."""
    from deltalake.exceptions import TableNotFoundError

    try:
        arrow = lakes.read_arrow(lake, table)
    except TableNotFoundError:
        return []
    rows: list[dict[str, Any]] = (arrow.select(list(columns)) if columns else arrow).to_pylist()
    return rows


def _tally(rows: list[dict[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        if row["article_id"]:
            counts[row["article_id"]] = counts.get(row["article_id"], 0) + 1
    return counts


def _point(store: redis.Redis, field: str, version: str) -> None:
    with store_errors():
        store.hset(views.VERSIONS.key(), field, version)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else ""
