"""The 48-hour re-clustering: the domain's functions over each language's window in a Spark worker.

Different from online clustering on purpose: it sees all pairs of the window that share a blocking key, not one article
at a time. What differs from the writers' stories becomes proposals, which the writers judge again; how far the two
agree (B-cubed) is published. One language is one group, as one language has one writer.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from batch.bronze import watermark
from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.adapters.story_models import policy_for
from frontpage.contracts import story_codec
from frontpage.contracts.events import ArticleEvent
from frontpage.contracts.tables import BRONZE, RECLUSTER_AGREEMENT, RECLUSTERS, STORY_MEMBERS
from frontpage.domain import recluster
from frontpage.domain.agreement import Agreement, b_cubed
from frontpage.domain.article import ArticleSignals
from frontpage.domain.recluster import Edge, Proposal
from frontpage.domain.similarity import PairScorer, Prepared
from frontpage.errors import UnreadableEvent

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

#: Seconds; documents: "re-clusters the last 48 h".
WINDOW: Final = 48 * 3_600.0
#: A key that more articles share says nothing about an event (a word of the week): its pairs meet by other keys.
MAX_BLOCK: Final = 250
#: Pairs below even odds are not worth keeping: `cut` counts them as unlike.
FLOOR: Final = 0.0
#: Reports are anonymous: three say that it is worth a look, and the scorer has the last word.
REPORTS: Final = 3
#: Reported articles of one run: more are an attack on the reports, not news.
MOST_REPORTED: Final = 500
_ROWS: Final = "kind STRING, payload STRING"


def candidates(articles: Iterable[Prepared]) -> dict[str, set[str]]:
    """Article id -> smaller ids that share a blocking key with it; each pair once."""
    blocks: dict[str, list[str]] = defaultdict(list)
    for prepared in articles:
        for key in recluster.block_keys(prepared):
            blocks[key].append(prepared.article.article_id)
    pairs: dict[str, set[str]] = defaultdict(set)
    for members in blocks.values():
        if 2 <= len(members) <= MAX_BLOCK:
            ordered = sorted(set(members))
            for at in range(1, len(ordered)):
                pairs[ordered[at]].update(ordered[:at])
    return pairs


def links(articles: Mapping[str, Prepared], scorer: PairScorer) -> list[Edge]:
    """Scored candidate pairs above `FLOOR`."""
    found: list[Edge] = []
    for one, others in sorted(candidates(articles.values()).items()):
        ordered = sorted(others)
        scores = scorer.logits(articles[one], [articles[other] for other in ordered]).tolist()
        found += [(other, one, score) for other, score in zip(ordered, scores, strict=True) if score > FLOOR]
    return found


def examine(
    signals: Iterable[ArticleSignals], story_of: Mapping[str, str], language: str, at: float
) -> tuple[list[Proposal], Agreement, int]:
    """(proposals, agreement of the present stories with the groups found, number of groups) of one language."""
    policy = policy_for(language)
    known = recluster.signals_by_id(signals)
    prepared = {id: policy.scorer.prepare(article) for id, article in known.items()}
    edges = links(prepared, policy.scorer)
    groups: list[list[str]] = []
    loose = frozenset(id for id, article in known.items() if article.kind in recluster.SPANNING)
    by_component: dict[str, list[Edge]] = defaultdict(list)
    parts = recluster.components(prepared, edges, FLOOR)
    first_of = {node: part[0] for part in parts for node in part}
    for edge in edges:
        by_component[first_of[edge[0]]].append(edge)
    for part in parts:
        groups += recluster.cut(part, by_component[part[0]], policy.join, loose=loose)
    clusters = {article: str(number) for number, group in enumerate(groups) for article in group}
    found = {article: story for article, story in story_of.items() if article in clusters}
    return recluster.propose(groups, found, language, at), b_cubed(found, clusters), len(groups)


def reports(spark: SparkSession, lake: Lake, now: float) -> list[Proposal]:
    """Articles that readers said are not about their present story, `REPORTS` times or more in the window."""
    from pyspark.sql import functions as F

    value = F.col("value").cast("string")
    events = lakes.read(spark, lake, BRONZE["events"][0]).where(F.col("cause").isNull())
    said = (
        events.select(
            *[
                F.get_json_object(value, f"$.{name}").alias(name)
                for name in ("kind", "event_id", "story_id", "article_id")
            ],
            F.get_json_object(value, "$.at").try_cast("double").alias("at"),
        )
        .where((F.col("kind") == "report") & (F.col("at") >= now - WINDOW))
        .groupBy("story_id", "article_id")
        .agg(F.countDistinct("event_id").alias("reports"))
        .where(F.col("reports") >= REPORTS)
    )
    members = lakes.read(spark, lake, STORY_MEMBERS).where(~F.col("story_closed"))
    present = said.join(members.select("article_id", "story_id", "language"), ["article_id", "story_id"])
    most = present.orderBy(F.desc("reports"), "article_id").limit(MOST_REPORTED)
    return [
        recluster.reported(row["story_id"], row["article_id"], int(row["reports"]), row["language"], now)
        for row in most.collect()
    ]


def build(spark: SparkSession, lake: Lake, now: float) -> dict[str, int]:
    """Replace `gold/reclusters` and `gold/recluster_agreement` from the last 48 hours; rows by table."""
    from pyspark.sql import functions as F

    value = F.col("value").cast("string")
    changes = lakes.read(spark, lake, BRONZE["story_changes"][0])
    seen = watermark(changes)
    bronze = lakes.read(spark, lake, BRONZE["articles"][0]).where(F.col("cause").isNull())
    articles = (
        bronze.withColumn("article_id", F.get_json_object(value, "$.card.article_id"))
        .withColumn("version", F.get_json_object(value, "$.card.version").try_cast("int"))
        .withColumn("first_seen_at", F.get_json_object(value, "$.card.first_seen_at").try_cast("double"))
        .where(F.col("first_seen_at") >= now - WINDOW)
        .groupBy("article_id")
        .agg(F.max_by("value", F.struct("version", "offset")).alias("value"))
    )
    members = lakes.read(spark, lake, STORY_MEMBERS).where(~F.col("story_closed"))
    rows = articles.join(members.select("article_id", "story_id", "language"), "article_id")

    def apply(group: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        language = str(group["language"].iloc[0])
        story_of = dict(zip(group["article_id"], group["story_id"], strict=True))
        signals = []
        for stored in group["value"]:
            try:
                event = ArticleEvent.decode(bytes(stored))
                if event is not None:
                    signals.append(story_codec.article_signals(event))
            except UnreadableEvent:
                continue  # dead-lettered by the writer as well: it is in no story
        proposals, agreement, clusters = examine(signals, story_of, language, now)
        found = [("proposal", json.dumps(_row(proposal, seen))) for proposal in proposals]
        figures = {
            "language": language, "articles": len(signals), "stories": len(set(story_of.values())),
            "clusters": clusters, "precision": agreement.precision, "recall": agreement.recall, "f1": agreement.f1,
            "at": now,
        }  # fmt: skip
        return pd.DataFrame([*found, ("agreement", json.dumps(figures))], columns=["kind", "payload"])

    told = [(json.dumps(_row(proposal, seen)),) for proposal in reports(spark, lake, now)]
    written = {}
    with lakes.cached(rows.groupBy("language").applyInPandas(apply, _ROWS)) as results:
        for kind, table in (("proposal", RECLUSTERS), ("agreement", RECLUSTER_AGREEMENT)):
            schema = ", ".join(f"`{column.name}` {column.type}" for column in table.columns)
            found = results.where(F.col("kind") == kind).select(F.from_json("payload", schema).alias("r"))
            if table is RECLUSTERS and told:
                found = found.union(
                    spark.createDataFrame(told, "payload STRING").select(F.from_json("payload", schema))
                )
            written[table.id] = lakes.replace(spark, lake, table, found.select("r.*"))
    return written


def _row(proposal: Proposal, seen: Mapping[str, int]) -> dict[str, Any]:
    return {
        "proposal_id": proposal.proposal_id, "language": proposal.language, "kind": proposal.kind,
        "stories": list(proposal.stories), "groups": [list(group) for group in proposal.groups],
        "evidence": json.dumps(dict(proposal.evidence)), "watermark": dict(seen), "at": proposal.at,
    }  # fmt: skip
