"""Silver tables: current, de-duplicated, with the change data feed where others follow them."""

from __future__ import annotations

from typing import Final

from frontpage.contracts.table_types import Table, columns_of

_PLACE: Final = """topic STRING - Kafka topic the row came from
partition INT - its partition
offset BIGINT - its offset
"""

ARTICLES: Final = Table(
    "silver", "articles", "The latest version of each article with its derived features.",
    columns_of("""
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
sections_by STRING - publisher, or the version of the section model that guessed
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
head STRING - base64 of little-endian uint32: hashed terms of headline and first sentences
pairs STRING - base64 of little-endian uint32: hashes of their word pairs
words INT - length of the text
quality DOUBLE - article quality signal 0..1
encoder STRING - encoder version of `vector`
vector BINARY - little-endian float32, unit norm
""" + _PLACE),
    ("article_id",), "version", change_feed=True,
)  # fmt: skip

ARTICLE_VERSIONS: Final = Table(
    "silver", "article_versions", "Every version of every article: a corrected headline is a new version.",
    columns_of("""
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
    columns_of("""
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
    columns_of("""
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
    columns_of("""
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
    columns_of("""
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
    columns_of("""
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
    columns_of("""
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
    columns_of("""
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
audit BOOLEAN - a look beside the schedule: its delay is by the looks, of what the schedule has found since the last
""" + _PLACE),
    ("feed_id", "at"), "offset", change_feed=True,
)  # fmt: skip
