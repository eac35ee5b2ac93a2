"""The Delta tables: every column with its type and meaning. `docs/tables.md` is generated from here.

`python -m frontpage.contracts.tables > docs/tables.md` writes the page; a test fails when it is stale. Types are Spark
DDL. Times are seconds since 1970 UTC on the virtual clock (DOUBLE), as in events, unless the column is a TIMESTAMP.
Reader ids are keyed hashes. No table has a column for a page body (licence boundary).
Not here: how tables are written (`adapters/lake.py`) and filled (`batch/`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

from frontpage.contracts import topics


@dataclass(frozen=True, slots=True)
class Column:
    """`type` is Spark DDL."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """`keys` are unique; of two rows of one key the greater `version` column is kept. Bronze has no keys but places."""

    layer: str
    name: str
    doc: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    version: str = ""
    partition_by: tuple[str, ...] = ()
    change_feed: bool = False

    @property
    def id(self) -> str:
        """`layer/name`, also the path under LAKE_URI."""
        return f"{self.layer}/{self.name}"

    def column_names(self) -> list[str]:
        """In table order."""
        return [column.name for column in self.columns]


def _columns(text: str) -> tuple[Column, ...]:
    """One column a line: `name TYPE - meaning`."""
    rows = []
    for line in text.strip().splitlines():
        head, _, doc = line.strip().partition(" - ")
        name, _, type = head.partition(" ")
        rows.append(Column(name, type.strip(), doc))
    return tuple(rows)


_RECEIVED: Final = _columns("""
topic STRING - Kafka topic
partition INT - its partition
offset BIGINT - its offset; (topic, partition, offset) is unique
key STRING - record key
kafka_at TIMESTAMP - Kafka's timestamp (real time)
value BINARY - the record as received
schema_name STRING - schema name it states, null when unreadable
cause STRING - why the contracts refuse it (as in dead letters), null when readable; such rows go no further
day DATE - day of kafka_at, partition of the table
""")


def _bronze(name: str, topic: topics.Topic) -> Table:
    doc = f"Records of `{topic.name}` exactly as received, appended once each by checkpoint."
    return Table("bronze", name, doc, _RECEIVED, ("topic", "partition", "offset"), "offset", ("day",))


#: bronze table -> the topic it is fed from
BRONZE: Final[dict[str, tuple[Table, topics.Topic]]] = {
    name: (_bronze(name, topic), topic)
    for name, topic in {
        "items": topics.ITEMS_RAW,
        "polls": topics.POLLS,
        "clicks": topics.READER_CLICKS,
        "events": topics.READER_EVENTS,
        "articles": topics.ARTICLES,
        "story_changes": topics.STORY_CHANGES,
        "story_links": topics.STORY_LINKS,
        "decisions": topics.RANK_DECISIONS,
        "trends": topics.TRENDS_HOT,
    }.items()
}

_PLACE: Final = """topic STRING - Kafka topic the row came from
partition INT - its partition
offset BIGINT - its offset
"""

ARTICLES: Final = Table(
    "silver", "articles", "The latest version of each article with its derived features.",
    _columns("""
article_id STRING - hash of the canonical URL
version INT - version of the article, grows with each correction
url STRING - canonical URL
title STRING - headline as published
snippet STRING - at most 200 characters, or empty where the licence forbids one
publisher_id STRING - publisher
publisher STRING - its name
domain STRING - registrable domain
country STRING - ISO 3166-1 alpha-2 of the publisher
language STRING - primary subtag, by the text
kind STRING - news, opinion, fact_check, live or other
paywalled BOOLEAN - behind a paywall
authors ARRAY<STRING> - as stated
sections ARRAY<STRING> - section ids
topics ARRAY<STRING> - topic ids
entities ARRAY<STRING> - linked entities
places ARRAY<STRING> - places named
published_at DOUBLE - as claimed by the publisher; not trusted for ranking
modified_at DOUBLE - as claimed
first_seen_at DOUBLE - when Frontpage first saw it; never moves
normalised_at DOUBLE - when enrich finished this version
content_hash STRING - hash of the normalised text
syndicated_from STRING - canonical URL at another publisher, where the page names one
from_feed BOOLEAN - made from the feed's own fields, as the page did not answer
feed_id STRING - feed it arrived by
arrived_by STRING - poll, websub, ping, sitemap or replay
problems ARRAY<STRING> - what was wrong with the page
simhash STRING - 16 hex digits
minhash STRING - base64 of 100 little-endian uint32, null for short texts
terms MAP<STRING, DOUBLE> - hashed term vector, at most 256 terms
words INT - length of the text
quality DOUBLE - article quality signal 0..1
encoder STRING - encoder version of `vector`
vector BINARY - little-endian float32, unit norm
""" + _PLACE),
    ("article_id",), "version", change_feed=True,
)  # fmt: skip

ARTICLE_VERSIONS: Final = Table(
    "silver", "article_versions", "Every version of every article: a corrected headline is a new version.",
    _columns("""
article_id STRING - article
version INT - its version
title STRING - headline of this version
snippet STRING - snippet of this version
content_hash STRING - hash of the normalised text
published_at DOUBLE - as claimed
modified_at DOUBLE - as claimed
normalised_at DOUBLE - when enrich finished it
publisher_id STRING - publisher
language STRING - primary subtag
""" + _PLACE),
    ("article_id", "version"), "offset", change_feed=True,
)  # fmt: skip

STORIES: Final = Table(
    "silver", "stories", "Stories and aliases as the language's writer left them, rebuilt from story changes.",
    _columns("""
story_id STRING - story
language STRING - primary subtag
alias_of STRING - surviving story after a merge, null for a story of its own
created_at DOUBLE - first change
updated_at DOUBLE - last change
closed BOOLEAN - left the 48 h window
headline STRING - title of the first original
topics ARRAY<STRING> - topics of the members, most frequent first, at most 5
sections ARRAY<STRING> - sections of the members, most frequent first, at most 3
articles INT - members, copies included
originals INT - members that are not copies
sources INT - distinct publishers with an original
first_seen_at DOUBLE - earliest first-seen time of a member
sequence BIGINT - writer's sequence number of the last change of its language
"""),
    ("story_id",), "sequence", change_feed=True,
)  # fmt: skip

STORY_MEMBERS: Final = Table(
    "silver", "story_members", "Which story each article is in, and why.",
    _columns("""
article_id STRING - article; it is in one story at a time
story_id STRING - its story
language STRING - primary subtag
publisher_id STRING - publisher
copy_of STRING - original article of a syndicated copy, null for an original
joined_at DOUBLE - when it joined
score DOUBLE - score of the decision, null when it began the story
evidence STRING - JSON of what decided
first_seen_at DOUBLE - first-seen time of the article
story_closed BOOLEAN - the story has left the window
sequence BIGINT - writer's sequence number of the last change of its language
"""),
    ("article_id",), "sequence", change_feed=True,
)  # fmt: skip

COPIES: Final = Table(
    "silver", "copies", "Syndicated copies and their originals.",
    _columns("""
article_id STRING - the copy
copy_of STRING - the original article
story_id STRING - story of both
publisher_id STRING - who reprinted
original_publisher_id STRING - who is credited, null when the original is unknown here
delay DOUBLE - seconds from the original's first-seen time to the copy's
sequence BIGINT - writer's sequence number
"""),
    ("article_id",), "sequence", change_feed=True,
)  # fmt: skip

STORY_LINKS: Final = Table(
    "silver", "story_links", "Stories of different languages that report one event.",
    _columns("""
link_id STRING - link
left STRING - story
left_language STRING - its language
right STRING - story
right_language STRING - its language
score DOUBLE - 0..1
at DOUBLE - when it was found
"""),
    ("link_id",), "at", change_feed=True,
)  # fmt: skip

IMPRESSIONS: Final = Table(
    "silver", "impressions", "Each story shown to a reader with the rank and features that serving used.",
    _columns("""
event_id STRING - impression of one card
impression_id STRING - the list (request) it was part of
at DOUBLE - when
edition STRING - edition
reader STRING - keyed hash, null when anonymous
story_id STRING - story shown
article_id STRING - representative shown
publisher_id STRING - its publisher
surface STRING - top, section, local, topic, story or feed
rank INT - position served, from 0
features ARRAY<FLOAT> - in the order of the feature registry
features_version STRING - version of the registry
model_version STRING - model that ranked, or "fallback"
""" + _PLACE),
    ("event_id",), "offset", change_feed=True,
)  # fmt: skip

CLICKS: Final = Table(
    "silver", "clicks", "Counted clicks (bots and old tokens out), joined to the impression they answer.",
    _columns("""
click_id STRING - click
at DOUBLE - when
article_id STRING - article opened
story_id STRING - its story when shown
publisher_id STRING - publisher
surface STRING - surface of the card
section STRING - section of the page
position INT - position on the surface
edition STRING - edition
reader STRING - keyed hash, null on shared cards
impression_id STRING - list it was part of, null on shared cards
impression_event_id STRING - the impression row, null until known
impression_at DOUBLE - when it was shown
joined INT - 1 when the impression is known; a later join replaces a row without
""" + _PLACE),
    ("click_id",), "joined", change_feed=True,
)  # fmt: skip

POLLS: Final = Table(
    "silver", "polls", "One poll of one feed.",
    _columns("""
feed_id STRING - feed
at DOUBLE - when
feed_url STRING - address
publisher_id STRING - publisher
domain STRING - registrable domain
status INT - HTTP status, null when there was no answer
outcome STRING - new, unchanged, not_modified, error or refused
cause STRING - of errors and refusals
bytes BIGINT - of the body
items INT - in the feed
new_items INT - not seen before
delay DOUBLE - median seconds from publication to seen, of the new items
next_at DOUBLE - next poll
""" + _PLACE),
    ("feed_id", "at"), "offset", change_feed=True,
)  # fmt: skip

PUBLISHER_AUTHORITY: Final = Table(
    "gold", "publisher_authority", "Authority of each publisher per topic and over all topics (`*`).",
    _columns("""
publisher_id STRING - publisher
topic STRING - topic id, or `*`
authority DOUBLE - 0..1
prior DOUBLE - from the registry
originals BIGINT - original articles
copies BIGINT - articles copied from others
copied_by BIGINT - reprints of its articles by others
cited_by BIGINT - articles of others that name it as their source (syndicated_from)
firsts BIGINT - multi-source stories that it reported first
shared BIGINT - multi-source stories that it reported at all
corrections BIGINT - versions beyond the first
at DOUBLE - when computed
"""),
    ("publisher_id", "topic"), "at",
)  # fmt: skip

READER_PROFILES: Final = Table(
    "gold", "reader_profiles", "The slow part of each reader's profile, from 90 days of clicks and events.",
    _columns("""
reader STRING - keyed hash
as_of DOUBLE - reference time of the sums
engagements INT - clicks, reads and long dwells folded
projections ARRAY<STRING> - projection versions of its vectors
follows INT - switches that are on
watermark MAP<STRING, BIGINT> - "topic/partition" to the next offset: events below are in it
document STRING - SlowProfile JSON as serving reads it
"""),
    ("reader",), "as_of",
)  # fmt: skip

VECTOR_PROJECTION: Final = Table(
    "gold", "vector_projection", "Projections of article vectors to 64 dimensions, one current per encoder.",
    _columns("""
version STRING - projection version
encoder STRING - encoder version it belongs to
dimension INT - of the encoder
matrix BINARY - little-endian float32 [dimension, 64], row-major
fitted_on BIGINT - articles
explained DOUBLE - share of variance kept, 0..1
at DOUBLE - when fitted
"""),
    ("version",), "at",
)  # fmt: skip

RECLUSTERS: Final = Table(
    "gold", "reclusters", "Merges and splits that the last 48-hour re-clustering proposes to the writers.",
    _columns("""
proposal_id STRING - same evidence, same id
language STRING - primary subtag
kind STRING - merge or split
stories ARRAY<STRING> - stories to become one, or the one to split
groups ARRAY<ARRAY<STRING>> - article ids that leave the first story of a split
evidence STRING - JSON
watermark MAP<STRING, BIGINT> - story.changes offsets it has seen
at DOUBLE - when proposed
"""),
    ("proposal_id",), "at",
)  # fmt: skip

RECLUSTER_AGREEMENT: Final = Table(
    "gold", "recluster_agreement", "How far the online stories agree with the last 48-hour re-clustering.",
    _columns("""
language STRING - primary subtag
articles BIGINT - articles of the window
stories BIGINT - online stories of the window
clusters BIGINT - clusters found
precision DOUBLE - B-cubed precision of the online stories against the clusters
recall DOUBLE - B-cubed recall
f1 DOUBLE - B-cubed F1
at DOUBLE - when computed
"""),
    ("language",), "at",
)  # fmt: skip

RANK_TRAINING: Final = Table(
    "gold", "rank_training", "Impressions with their outcome and the features as logged when served (point in time).",
    _columns("""
event_id STRING - impression
request STRING - the list it was part of; ranking groups by it
at DOUBLE - when it was shown
edition STRING - edition
reader STRING - keyed hash
story_id STRING - story
publisher_id STRING - publisher
surface STRING - surface
rank INT - position served
clicked INT - 1 when a click or read of this story by this list followed within the attribution window
features ARRAY<FLOAT> - as logged, never recomputed
features_version STRING - registry version; training uses one version only
model_version STRING - what ranked
split STRING - train or test, by time: the last fifth of requests is test
"""),
    ("event_id",), "at",
)  # fmt: skip

MODELS: Final = Table(
    "gold", "models", "The model registry: every trained ranker with its figures.",
    _columns("""
version STRING - model version
kind STRING - ranker
features_version STRING - registry version
names ARRAY<STRING> - feature names in model order
model_text STRING - LightGBM model text
metrics MAP<STRING, DOUBLE> - figures on the test requests, fallback beside model
trained_on BIGINT - impressions
at DOUBLE - when trained
stage STRING - candidate, current or retired
changed_at DOUBLE - when the stage last changed
"""),
    ("version",), "changed_at",
)  # fmt: skip

FRESHNESS: Final = Table(
    "gold", "freshness", "Delays from publication to story by language, and publishers' lag.",
    _columns("""
language STRING - primary subtag, or `*`
publisher_id STRING - publisher, or `*` for all of the language
articles BIGINT - first versions counted
discovery_p50 DOUBLE - seconds from claimed publication to first seen, where the claim is plausible
discovery_p95 DOUBLE - same
enrich_p50 DOUBLE - seconds from first seen to normalised
enrich_p95 DOUBLE - same
story_p50 DOUBLE - seconds from first seen to its story change
story_p95 DOUBLE - same
latest DOUBLE - latest first-seen time
at DOUBLE - when computed
"""),
    ("language", "publisher_id"), "at",
)  # fmt: skip

CLUSTER_HEALTH: Final = Table(
    "gold", "cluster_health", "Shape of the stories of each language.",
    _columns("""
language STRING - primary subtag
stories BIGINT - open and closed, without aliases
aliases BIGINT - merged away
articles BIGINT - members
copies BIGINT - of them copies
singles BIGINT - stories of one article
mean_size DOUBLE - articles a story
largest BIGINT - articles of the largest
merges BIGINT - merge changes
splits BIGINT - split changes
agreement DOUBLE - B-cubed F1 of online stories against the 48-hour re-clustering, null before one ran
at DOUBLE - when computed
"""),
    ("language",), "at",
)  # fmt: skip

POLL_REPORT: Final = Table(
    "gold", "poll_report", "The polling scorecard of each feed.",
    _columns("""
feed_id STRING - feed
publisher_id STRING - publisher
domain STRING - registrable domain
polls BIGINT - polls counted
not_modified_share DOUBLE - answered 304
waste DOUBLE - share of polls that found nothing
errors BIGINT - errors and refusals
new_items BIGINT - found
delay_p50 DOUBLE - seconds from publication to seen
delay_p90 DOUBLE - same
per_minute DOUBLE - polls a minute over the observed span
at DOUBLE - when computed
"""),
    ("feed_id",), "at",
)  # fmt: skip

SILVER: Final = (
    ARTICLES, ARTICLE_VERSIONS, STORIES, STORY_MEMBERS, STORY_LINKS, COPIES, IMPRESSIONS, CLICKS, POLLS,
)  # fmt: skip
GOLD: Final = (
    PUBLISHER_AUTHORITY, READER_PROFILES, VECTOR_PROJECTION, RECLUSTERS, RECLUSTER_AGREEMENT, RANK_TRAINING, MODELS,
    FRESHNESS, CLUSTER_HEALTH, POLL_REPORT,
)  # fmt: skip
ALL: Final = (*(table for table, _ in BRONZE.values()), *SILVER, *GOLD)


def render() -> str:
    """The page docs/tables.md."""
    parts = [
        "# Delta tables",
        "",
        "Generated by `python -m frontpage.contracts.tables > docs/tables.md`; do not edit. Times are seconds since",
        "1970 UTC on the virtual clock unless the type is TIMESTAMP. Paths are `LAKE_URI/layer/name`.",
        "",
        "Reading without Spark, with DuckDB over Arrow (no extension to download):",
        "",
        "```python",
        "from frontpage.adapters.lake import Lake, connect_duckdb",
        "from frontpage.contracts import tables",
        "",
        'with connect_duckdb(Lake("var/lake"), tables.ALL) as lake:  # a view layer_name for each existing table',
        '    lake.sql("SELECT language, count(*) FROM silver_articles GROUP BY 1 ORDER BY 2 DESC").show()',
        "```",
    ]
    for table in ALL:
        parts += ["", f"## {table.id}", "", table.doc, ""]
        facts = [f"unique by {', '.join(f'`{key}`' for key in table.keys)}", f"newest by `{table.version}`"]
        if table.partition_by:
            facts.append(f"partitioned by `{', '.join(table.partition_by)}`")
        if table.change_feed:
            facts.append("change data feed on")
        parts += ["; ".join(facts).capitalize() + ".", "", "| column | type | meaning |", "|---|---|---|"]
        parts += [f"| `{c.name}` | {c.type} | {c.doc} |" for c in table.columns]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
