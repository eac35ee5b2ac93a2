"""Items that are known are not parsed again, and a feed reads the same with and without that memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.adapters.feed_codec import FeedRow, FeedSource
from frontpage.adapters.parse.feeds import read_any
from frontpage.domain.schedule import FeedState
from streaming.ingest.listing import Listing, known_items, listed

URL = "https://paper.test/feed.xml"
NOW = 1_790_000_000.0


def rss(*items: str, site: str = "https://paper.test/", head: str = "") -> bytes:
    return (
        f'<?xml version="1.0"?><rss version="2.0"{head}><channel><title>Paper</title><link>{site}</link>'
        f"<lastBuildDate>{len(items)}</lastBuildDate>{''.join(items)}</channel></rss>"
    ).encode()


def item(name: str, title: str = "", link: str = "") -> str:
    return f"<item><title>{title or name}</title><link>{link or '/' + name}</link><guid>{name}</guid></item>"


def first(body: bytes, url: str = URL) -> tuple[FeedRow, Listing]:
    """A feed's row after its first poll, and what that poll listed."""
    listing = listed(read_any(body, {}, url, now=NOW), {})
    assert listing is not None
    state = FeedState(body_at=NOW, guids=tuple(entry.known_as for entry in listing.known))
    return FeedRow(FeedSource("f1", url, "p", "paper.test"), state, items=listing.items), listing


def again(row: FeedRow, body: bytes, url: str = URL) -> Listing | None:
    known = known_items(row)
    return listed(read_any(body, {}, url, now=NOW, known=known), known)


def shown(listing: Listing | None) -> list[tuple[str, str | None]]:
    assert listing is not None
    return [(known.known_as, entry and entry.url) for known, entry in zip(listing.known, listing.entries, strict=True)]


def test_only_new_and_changed_items_are_read():
    row, _ = first(rss(item("a"), item("b"), item("c")))
    listing = again(row, rss(item("new"), item("a"), item("b", "b, corrected"), item("c")))
    assert listing is not None
    assert [entry and entry.title for entry in listing.entries] == ["new", None, "b, corrected", None]
    _, whole = first(rss(item("new"), item("a"), item("b", "b, corrected"), item("c")))
    assert [one.known_as for one in listing.known] == [one.known_as for one in whole.known]
    assert listing.items == whole.items, "the memory goes on with the new document"
    assert listing.meta.title == "Paper"


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_a_second_reading_lists_what_a_whole_one_would(before: list[str], after: list[str]):
    row, _ = first(rss(*map(item, before)))
    _, whole = first(rss(*map(item, after)))
    listing = again(row, rss(*map(item, after)))
    assert listing is not None
    assert [one.known_as for one in listing.known] == [one.known_as for one in whole.known]
    assert [entry is None for entry in listing.entries] == [name in before for name in after]


@pytest.mark.parametrize(
    ("body", "url"),
    [
        (rss(item("a"), site="https://other.test/"), URL),
        (rss(item("a")), "https://moved.test/feed.xml"),
        (rss(item("a"), head=' xml:base="https://third.test/"'), URL),
    ],
)
def test_an_item_is_read_again_where_its_address_means_another_page(body: bytes, url: str):
    row, _ = first(rss(item("a")))
    listing = again(row, body, url)
    assert listing is not None
    assert listing.entries[0] is not None
    assert shown(listing) == shown(first(body, url)[1])


@pytest.mark.parametrize(
    "tricky",
    [
        "<item><title>a</title><guid>a</guid><description><![CDATA[</item><item>]]></description></item>",
        "<!-- <item> --><item><title>a</title><guid>a</guid><link>/a</link></item>",
        "<item><title>a</title><guid>a</guid><link>/a</link><!-- </item> --></item>",
    ],
)
def test_marks_inside_comments_and_character_data_end_no_item(tricky: str):
    row, whole = first(rss(tricky, item("b")))
    assert len(whole.entries) == 2
    listing = again(row, rss(item("c"), tricky, item("b")))
    assert listing is not None
    assert [entry is None for entry in listing.entries] == [False, True, True]


@pytest.mark.parametrize(
    "broken",
    [
        rss("<item><title>a</title><item><title>b</title></item></item>"),
        rss("<item/>", item("b")),
        rss(item("a"), "<item><title>open"),
        rss(item("a"), item("a")),
        b'{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[{"id":"1","url":"https://paper.test/1"}]}',
    ],
)
def test_what_cannot_be_told_apart_is_read_whole_every_time(broken: bytes):
    row, whole = first(broken)
    assert row.items == b""
    assert shown(again(row, broken)) == shown(whole)


@pytest.mark.parametrize("twin", [item("a", "Other words", "/elsewhere"), item("z", "a", "/a")])
def test_a_new_item_like_a_known_one_has_the_document_read_whole(twin: str):
    row, _ = first(rss(item("a"), item("b")))
    assert again(row, rss(twin, item("a"), item("b"))) is None


def test_what_the_state_has_forgotten_is_read_again():
    row, _ = first(rss(item("a"), item("b")))
    assert known_items(replace(row, state=FeedState(body_at=NOW, guids=row.state.guids[:1]))).keys() == {
        row.items[:6].hex()
    }
    assert known_items(replace(row, state=FeedState(guids=row.state.guids))) == {}, "never read as far as it knows"


def test_rows_keep_their_items_and_guids_packed():
    row, _ = first(rss(*(item(f"item {n}") for n in range(40))))
    raw = row.encode()
    found = FeedRow.decode(raw)
    assert (found.source, found.state, found.items, found.raw) == (row.source, row.state, row.items, raw)
    assert len(raw) < 40 * (12 + 18) + 200


def test_rows_of_json_alone_and_guids_of_another_form_are_read():
    row = FeedRow(FeedSource("f1", URL, "p", "paper.test"), FeedState(guids=("guid one:x", "two")))
    assert FeedRow.decode(row.encode()).state == row.state
    old = b'{"source":{"feed_id":"f1","url":"u","publisher_id":"p","domain":"d"},"state":{"guids":["a:b"],"later":1}}'
    assert FeedRow.decode(old).state.guids == ("a:b",)


@pytest.mark.parametrize("damage", [lambda raw: raw[:-1], lambda raw: raw + b"x", lambda raw: raw[:-200]])
def test_a_row_whose_packed_part_is_not_whole_is_damaged(damage):
    row, _ = first(rss(*(item(f"item {n}") for n in range(10))))
    with pytest.raises(ValueError, match="items in"):
        FeedRow.decode(damage(row.encode()))
