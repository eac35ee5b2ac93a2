"""Envelopes and identifiers: what crosses a process boundary reads back the same or fails with a cause."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.contracts.events import FeedItem, PollRequest
from frontpage.contracts.rank_events import RankDecision
from frontpage.domain import ids
from frontpage.domain.editions import EDITIONS, SECTIONS
from frontpage.domain.languages import LANGUAGE_PARTITIONS, PARTITION_OF, SHARED_PARTITION, direction, partition_of
from frontpage.errors import UnreadableEvent

ITEM = FeedItem(
    feed_id="f1", feed_url="https://a.example/rss", publisher_id="a", url="https://a.example/1", seen_at=5.0
)


def test_an_event_reads_back_equal_and_equal_events_are_equal_bytes() -> None:
    assert FeedItem.decode(ITEM.encode()) == ITEM
    assert FeedItem.decode(ITEM.encode()).encode() == ITEM.encode()


def test_a_null_value_is_a_tombstone() -> None:
    assert FeedItem.decode(None) is None


def test_unknown_fields_are_kept_and_written_back() -> None:
    fields = {**json.loads(ITEM.encode()), "later": {"x": 1}}
    event = FeedItem.decode(json.dumps(fields).encode())
    assert json.loads(event.encode())["later"] == {"x": 1}


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        (b"\xff\xfe{bad", "not-utf8"),
        (b"{bad", "not-json"),
        (b"[" * 100_000, "not-json"),
        (b"[1]", "not-an-object"),
        (b"{}", "unknown-schema"),
        (b'{"schema":{"name":"polls","version":1}}', "unknown-schema"),
        (b'{"schema":{"name":"items.raw","version":99}}', "unknown-version"),
        (b'{"schema":{"name":"items.raw","version":1},"title":"no address"}', "invalid-fields"),
        (ITEM.encode().replace(b'"seen_at":5.0', b'"seen_at":NaN'), "not-json"),
        (ITEM.encode().replace(b'"seen_at":5.0', b'"seen_at":1e999'), "not-json"),
        (ITEM.encode().replace(b'"seen_at":5.0', b'"seen_at":5.0,"later":[{"x":-Infinity}]'), "not-json"),
        (ITEM.encode().replace(b'"guid":""', b'"guid":"\\ud800"'), "not-utf8"),
        (ITEM.encode().replace(b'"guid":""', b'"later":{"x\\uDBFF\\ud83d":1}'), "not-utf8"),
    ],
)
def test_what_cannot_be_understood_says_why(value: bytes, cause: str) -> None:
    with pytest.raises(UnreadableEvent) as caught:
        FeedItem.decode(value)
    assert caught.value.cause == cause


def test_a_place_on_a_page_counts_from_one() -> None:
    decision = RankDecision(
        decision_id="d", edition="en-US", section="top", page_version=1, story_id="s", rank=1, score=1.0,
        representative="a", publisher_id="p", at=5.0,
    )  # fmt: skip
    for rank in (b"0", b"-1"):
        with pytest.raises(UnreadableEvent):
            RankDecision.decode(decision.encode().replace(b'"rank":1', b'"rank":' + rank))


def test_a_whole_surrogate_pair_is_a_character() -> None:
    event = FeedItem.decode(ITEM.encode().replace(b'"guid":""', b'"guid":"\\ud83d\\udcf0 \\\\ud800"'))
    assert event.guid == "\U0001f4f0 \\ud800"
    assert FeedItem.decode(event.encode()) == event


@given(st.binary(max_size=200))
def test_bytes_are_never_an_unexpected_error(value: bytes) -> None:
    with pytest.raises(UnreadableEvent):
        PollRequest.decode(value)


@given(
    st.lists(st.tuples(st.integers(0, 2**41), st.integers(0, 15), st.integers(0, 2**18 - 1)), unique=True, max_size=50)
)
def test_story_ids_are_unique_and_sort_by_time(mints: list[tuple[int, int, int]]) -> None:
    made = [ids.story_id(ids.EPOCH_MS + ms, partition, counter) for ms, partition, counter in mints]
    assert len(set(made)) == len(mints)
    assert sorted(made) == [id for _, id in sorted(zip(mints, made, strict=True))]


def test_ids_are_pinned_because_they_are_stored_for_years() -> None:
    assert ids.article_id("https://a.example/1") == "d817b80f9a5befb9163e"
    assert ids.story_id(1_800_000_000_000, 0, 7) == "0svkxb8000007"


def test_one_language_is_in_exactly_one_partition() -> None:
    assert sorted(set(PARTITION_OF.values()) | {SHARED_PARTITION}) == list(range(LANGUAGE_PARTITIONS))
    assert partition_of("pt-BR") == partition_of("pt_PT") == PARTITION_OF["pt"]
    assert partition_of("") == partition_of("xx") == partition_of("und") == SHARED_PARTITION


def test_direction_follows_the_script() -> None:
    assert [direction(tag) for tag in ("ar-EG", "he", "en", "ja")] == ["rtl", "rtl", "ltr", "ltr"]


def test_editions_and_sections_have_the_documents_size() -> None:
    assert 65 <= len(EDITIONS) <= 85
    assert len(SECTIONS) == 12
