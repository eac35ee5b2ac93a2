"""Gold tables: what the batch layer learns, reports and publishes."""

from __future__ import annotations

from typing import Final

from frontpage.contracts.table_types import Table, columns_of

PUBLISHER_AUTHORITY: Final = Table(
    "gold", "publisher_authority", "Authority of each publisher per topic and over all topics (`*`).",
    columns_of("""
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
    columns_of("""
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
    columns_of("""
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

TERM_WEIGHTS: Final = Table(
    "gold", "term_weights", "In how many recent stories of a language each hashed term stands: lexical weights.",
    columns_of("""
language STRING - primary subtag
term BIGINT - hashed word or word pair (32 bits)
stories BIGINT - stories of the last 30 days whose first article has it
weight DOUBLE - the same, a story's vote halved every 7 days
documents DOUBLE - all stories of the language, counted in the same way
until DOUBLE - watermark: stories that began up to then are counted
at DOUBLE - when computed
"""),
    ("language", "term"), "at",
)  # fmt: skip

ENTITIES: Final = Table(
    "gold", "entities", "Names learnt from cross-source support: the growing dictionary that enrich reads.",
    columns_of("""
language STRING - primary subtag
key STRING - what the spellings of the name share (case folded, case endings cut)
alone BOOLEAN - a bare German noun: counts only as the last word of a longer name
name STRING - its most used spelling
publishers BIGINT - independent publishers that used it in the last 30 days that had it
stories BIGINT - stories in which they did
seen_at DOUBLE - latest first-seen time of an article with it
learnt_at DOUBLE - when it was first learnt
at DOUBLE - when computed
"""),
    ("language", "key", "alone"), "at",
)  # fmt: skip

TITLE_SLOGANS: Final = Table(
    "gold", "title_slogans", "Template words of sources: what a publisher writes beside most of its headlines.",
    columns_of("""
publisher_id STRING - publisher
slogan STRING - a first or last part of its titles, as spelled
titles BIGINT - titles that had it when it was last seen, of 30 days
articles BIGINT - titles of the publisher then
seen_at DOUBLE - latest first-seen time of an article with it; known slogans are cut, so it does not move while in use
at DOUBLE - when computed
"""),
    ("publisher_id", "slogan"), "at",
)  # fmt: skip

RECLUSTERS: Final = Table(
    "gold", "reclusters", "Merges and splits that the last 48-hour re-clustering proposes to the writers.",
    columns_of("""
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
    columns_of("""
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
    columns_of("""
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
    "gold", "models", "The model registry: every trained ranker and section model with its figures.",
    columns_of("""
version STRING - model version
kind STRING - ranker or sections
features_version STRING - registry version, or the encoder of a section model
names ARRAY<STRING> - feature names in model order, or the sections
model_text STRING - LightGBM model text, or JSON
metrics MAP<STRING, DOUBLE> - figures on the test rows, beside those of what is in use (fallback, used)
trained_on BIGINT - impressions or articles
at DOUBLE - when trained
stage STRING - candidate, current or retired
changed_at DOUBLE - when the stage last changed
"""),
    ("version",), "changed_at",
)  # fmt: skip

FRESHNESS: Final = Table(
    "gold", "freshness", "Delays from publication to story by language, and publishers' lag.",
    columns_of("""
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
    columns_of("""
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
duplicates_top10 BIGINT - merges that the last re-clustering proposes among the first ten of a front page of now
front_repairs BIGINT - merges, splits and moves of the last day that touched a story shown on a front page in that time
held BIGINT - merges that wait or waited for a person in the last day
at DOUBLE - when computed
"""),
    ("language",), "at",
)  # fmt: skip

ID_CHURN: Final = Table(
    "gold", "id_churn", "How stable story ids are, by language and day: what repair and re-clustering did to them.",
    columns_of("""
language STRING - primary subtag
day DATE - virtual day, UTC
changes BIGINT - story changes
created BIGINT - stories begun by an article
merged BIGINT - ids that became aliases
split BIGINT - ids that came out of a split
moved BIGINT - articles that went to another story by a move or a split
assigned BIGINT - articles assigned
alive BIGINT - ids that changed on this day in any way
id_churn DOUBLE - merged and split ids as a share of the ids alive
article_churn DOUBLE - articles that came to bear another story id (moved, split, absorbed) a article assigned
at DOUBLE - when computed
"""),
    ("language", "day"), "at", partition_by=("day",),
)  # fmt: skip

PAIR_RATINGS: Final = Table(
    "gold", "pair_ratings", "What persons said of pairs (`frontpage rate`): evaluation and training read it.",
    columns_of("""
pair_id STRING - the same in either order
by STRING - who said it
language STRING - primary subtag
left STRING - article id
right STRING - article id
left_title STRING - headline as shown
right_title STRING - headline as shown
left_snippet STRING - snippet as shown
right_snippet STRING - snippet as shown
left_publisher STRING - publisher id
right_publisher STRING - publisher id
left_at DOUBLE - first seen
right_at DOUBLE - first seen
kind STRING - inside a story, or similar but apart, when it was asked
same BOOLEAN - they report one event
cosine DOUBLE - of their vectors
seen BIGINT - impressions of their stories when it was asked
at DOUBLE - when it was said; a person's latest word counts
"""),
    ("pair_id", "by"), "at",
)  # fmt: skip

POLL_REPORT: Final = Table(
    "gold", "poll_report", "The polling scorecard of each feed.",
    columns_of("""
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
per_minute DOUBLE - polls a minute over the observed span, without the audit's
audits BIGINT - looks of the audit
audit_delay_p50 DOUBLE - seconds from the feed showing an item to the schedule finding it, null without an audit
audit_delay_p90 DOUBLE - same
at DOUBLE - when computed
"""),
    ("feed_id",), "at",
)  # fmt: skip
