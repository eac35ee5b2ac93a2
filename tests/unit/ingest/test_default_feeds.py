"""The list of public feeds that ships: readable, balanced, and with nothing in it that a list from us must not have."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from frontpage.adapters.feed_rows import FeedSource
from frontpage.domain.editions import EDITIONS, SECTIONS
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.ids import feed_id
from frontpage.domain.languages import LANGUAGE_PARTITIONS, partition_of, primary_subtag
from frontpage.domain.tracking import tracking_reason
from frontpage.domain.urls import canonicalise, clean_link, fetch_refusal
from streaming.ingest.opml import Outline, default_list, read_opml, write_opml

#: Aggregators, walls and newsletters: their items are other people's articles, or none.
NO_PUBLISHERS = re.compile(
    r"(?:^|\.)(?:google|reddit|youtube|feedburner|substack|medium|blogspot|wordpress|nitter|fetchrss|siftrss|yahoo|msn|"
    r"allafrica|rsshub|feedx|amazonaws|hnrss|disqus)\.|(?:^|\.)rss\.app$"
)


@pytest.fixture(scope="module")
def feeds() -> list[Outline]:
    return read_opml(default_list())


def test_about_three_hundred_feeds_in_many_languages(feeds):
    languages = Counter(outline.language for outline in feeds)
    assert 280 <= len(feeds) <= 350
    assert len(languages) >= 25
    assert languages["en"] <= len(feeds) / 3
    assert sum(count >= 5 for count in languages.values()) >= 15
    editions = {edition.language for edition in EDITIONS.values()}
    for language in languages:
        assert primary_subtag(language) == language
        assert partition_of(language) < LANGUAGE_PARTITIONS
        assert language in editions, "a language that no edition shows"


def test_every_section_has_feeds_and_not_in_english_alone(feeds):
    sections = Counter(outline.folder[-1] for outline in feeds)
    assert set(sections) == set(SECTIONS)
    for section in SECTIONS:
        assert sections[section] >= 5, section
        assert len({outline.language for outline in feeds if outline.folder[-1] == section}) >= 4, section


def test_folders_are_language_and_section_and_every_feed_is_named(feeds):
    for outline in feeds:
        assert outline.folder == (outline.language, outline.folder[-1])
        assert outline.title
        assert outline.kind == "feed"
        assert clean_link(outline.site_url) == (outline.site_url, None)
        assert outline.publisher_id is None, "publishers are the registry's"
    assert len({outline.title for outline in feeds}) == len(feeds), "a name that says which"


def test_addresses_are_usable_as_they_are(feeds):
    for outline in feeds:
        parts = urlsplit(outline.url)
        assert clean_link(outline.url) == (outline.url, None)
        assert fetch_refusal(outline.url) is None
        assert parts.scheme == "https"
        assert not parts.fragment
        assert parts.hostname
        assert parts.hostname == parts.hostname.lower()
        assert not NO_PUBLISHERS.search(parts.hostname), outline.url
        for piece in filter(None, parts.query.split("&")):
            name, _, value = piece.partition("=")
            assert tracking_reason(name, value, parts.hostname) is None, outline.url
            assert not re.search("key|token|auth", name, re.IGNORECASE), outline.url


def test_nothing_is_listed_twice_and_no_host_carries_the_list(feeds):
    assert max(Counter(canonicalise(outline.url).canonical for outline in feeds).values()) == 1
    hosts = Counter(urlsplit(outline.url).hostname for outline in feeds)
    assert max(hosts.values()) <= 10, hosts.most_common(3)
    per_language = Counter((registrable_domain(urlsplit(o.url).hostname or ""), o.language) for o in feeds)
    assert max(per_language.values()) <= 7, per_language.most_common(3)
    assert len({domain for domain, _ in per_language}) >= 200


def test_the_list_survives_being_exported(feeds):
    sources = [
        FeedSource(
            feed_id(o.url), o.url, "p", "d", title=o.title, folder=o.folder, language=o.language, site_url=o.site_url
        )
        for o in feeds
    ]
    again = {o.url: o for o in read_opml(write_opml(sources))}
    for outline in feeds:
        found = again[outline.url]
        assert (found.title, found.folder, found.language, found.site_url) == (
            outline.title, outline.folder, outline.language, outline.site_url,
        )  # fmt: skip


def test_source_and_licence_are_named_and_the_file_is_package_data():
    head = default_list()[:800].decode()
    assert "github.com/kagisearch/kite-public" in head
    assert "MIT" in head
    assert "feeds check" in head
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert "*.opml" in project["tool"]["setuptools"]["package-data"]["*"]
