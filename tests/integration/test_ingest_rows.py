"""Feed rows and article rows in a real Valkey: claims, compare-and-set, the conditional write and its crash window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontpage.adapters.article_rows import ArticleRows, Offer
from frontpage.adapters.feed_rows import PARTITIONS, FeedRow, FeedRows, FeedSource, due_key
from frontpage.adapters.redis_store import open_redis
from frontpage.domain.ids import feed_id
from frontpage.domain.schedule import FeedState

NOW = 1_780_000_000.0


@pytest.fixture
def store(valkey: str) -> Iterator[redis.Redis]:
    client = open_redis(valkey)
    yield client
    client.close()


def feed(number: int, next_at: float | None = 0.0) -> FeedRow:
    url = f"https://site{number}.example/feed"
    source = FeedSource(feed_id(url), url, f"p{number}", f"site{number}.example", folder=("News", "World"))
    return FeedRow(source, FeedState(next_at=next_at, guids=("a:b",), rate={3: 1.5}))


class TestFeedRows:
    def test_a_row_is_read_back_as_it_was_written(self, store):
        rows = FeedRows(store)
        rows.put(feed(1, 5.0))
        found = rows.get(feed(1).source.feed_id)
        assert (found.source, found.state) == (feed(1, 5.0).source, feed(1, 5.0).state)

    def test_a_row_of_a_newer_version_is_still_read(self):
        raw = feed(1).encode().replace(b'"state":{', b'"state":{"from_the_future":1,')
        assert FeedRow.decode(raw).state == feed(1).state

    @pytest.mark.parametrize("damage", [b"not json", b"[]", b"{}", b'{"source": {}, "state": {}}', b"\xff", b"null"])
    def test_a_damaged_row_stops_no_other_feed(self, store, damage):
        rows = FeedRows(store)
        for number in (1, 2, 3):
            rows.put(feed(number))
        store.set(f"feed:{feed(2).source.feed_id}", damage)
        whole = {feed(1).source.feed_id, feed(3).source.feed_id}
        assert {row.source.feed_id for row in rows.claim(NOW, 100, lease=60.0)} == whole
        assert {row.source.feed_id for row in rows.all()} == whole
        assert rows.get(feed(2).source.feed_id) is None
        rows.put(feed(2, 5.0))
        mended = rows.get(feed(2).source.feed_id)
        assert mended is not None, "adding it again mends it"
        assert mended.state == feed(2, 5.0).state

    def test_due_feeds_are_claimed_once_and_come_back_when_the_worker_dies(self, store):
        rows = FeedRows(store)
        for number in range(100):
            rows.put(feed(number, NOW - number))
        rows.put(feed(1000, NOW + 60))
        first, second = rows.claim(NOW, 64, 120.0), rows.claim(NOW, 1000, 120.0)
        claimed = Counter(row.source.feed_id for row in [*first, *second])
        assert len(first) >= 50
        assert set(claimed.values()) == {1}
        assert len(claimed) == 100
        assert rows.claim(NOW, 1000, 120.0) == []
        assert len(rows.claim(NOW + 121, 1000, 120.0)) == 101

    def test_storing_keeps_what_happened_meanwhile(self, store):
        rows = FeedRows(store)
        rows.put(feed(1, NOW))
        rows.put(feed(2, NOW))
        claimed = {row.source.feed_id: row for row in rows.claim(NOW, 100, 120.0)}
        boosted, removed = feed(1).source.feed_id, feed(2).source.feed_id
        assert rows.boost(boosted, NOW + 3600, NOW + 1)
        rows.remove(removed)
        rows.store([replace(row, state=replace(row.state, next_at=NOW + 900, polls=7)) for row in claimed.values()])
        found = rows.get(boosted)
        assert (found.state.polls, found.state.boost_until) == (7, NOW + 3600)
        assert found.state.next_at <= NOW + 1, "the boost asked for a poll now"
        assert rows.get(removed) is None
        assert [row.source.feed_id for row in rows.all()] == [boosted]

    def test_a_request_during_a_poll_is_served_after_it_and_never_twice_at_once(self, store):
        rows, name = FeedRows(store), feed(1).source.feed_id
        rows.put(feed(1, NOW))
        (claimed,) = rows.claim(NOW, 10, 120.0)
        assert rows.boost(name, None, NOW + 1, why="websub")
        assert rows.lease(name, NOW + 9_000)
        assert rows.claim(NOW + 2, 10, 120.0) == [], "it is being polled"
        rows.store([replace(claimed, state=replace(claimed.state, last_at=NOW + 3, next_at=NOW + 900))])
        state = rows.get(name).state
        assert (state.next_at, state.wanted_by, state.lease_until) == (NOW + 33, "websub", NOW + 9_000)
        (again,) = rows.claim(NOW + 34, 10, 120.0)
        rows.store([replace(again, state=replace(again.state, last_at=NOW + 34, next_at=NOW + 900, wanted_at=None))])
        assert rows.get(name).state.next_at == NOW + 900, "served once"

    def test_what_is_asked_for_goes_before_what_is_merely_overdue(self, store):
        rows = FeedRows(store)
        overdue = next(n for n in range(2, 500) if due_key(feed(n).source.feed_id) == due_key(feed(1).source.feed_id))
        rows.put(feed(overdue, NOW - 5_000))
        rows.put(feed(1, NOW + 600))
        assert rows.boost(feed(1).source.feed_id, None, NOW, why="ping")
        assert [row.source.feed_id for row in rows.claim(NOW, 1, 120.0)] == [feed(1).source.feed_id]

    def test_a_claim_takes_no_more_than_asked_and_in_time_from_every_queue(self, store):
        rows = FeedRows(store)
        names = [feed(number).source.feed_id for number in range(300)]
        for number in range(300):
            rows.put(feed(number, NOW - number))
        taken = [[row.source.feed_id for row in rows.claim(NOW, 5, 10_000.0)] for _ in range(60)]
        assert {len(claimed) for claimed in taken} == {5}
        assert Counter(feed for claimed in taken for feed in claimed) == Counter(names)
        first = {due_key(feed) for claimed in taken[:PARTITIONS] for feed in claimed}
        assert len(first) > PARTITIONS * 0.8, "no queue waits for the others to be empty"

    def test_a_claim_fills_up_from_one_long_queue(self, store):
        rows = FeedRows(store)
        queue = due_key(feed(1).source.feed_id)
        alike = [n for n in range(2_000) if due_key(feed(n).source.feed_id) == queue][:40]
        for number in alike:
            rows.put(feed(number, NOW - number))
        assert len(rows.claim(NOW, 36, 120.0)) == 36

    def test_many_rows_are_stored_at_once_each_by_itself(self, store):
        rows = FeedRows(store)
        for number in range(600):
            rows.put(feed(number, NOW))
        claimed = rows.claim(NOW, 600, 120.0)
        assert len(claimed) == 600
        rows.remove(claimed[3].source.feed_id)
        assert rows.lease(claimed[400].source.feed_id, NOW + 9_000)
        rows.store([replace(row, state=replace(row.state, next_at=NOW + 900, polls=7)) for row in claimed])
        found = {row.source.feed_id: row.state for row in rows.all()}
        assert found.keys() == {row.source.feed_id for row in claimed} - {claimed[3].source.feed_id}
        assert {state.polls for state in found.values()} == {7}
        assert found[claimed[400].source.feed_id].lease_until == NOW + 9_000

    def test_a_stopped_feed_stays_on_file_and_is_never_due(self, store):
        rows = FeedRows(store)
        rows.put(feed(1, None))
        assert rows.claim(NOW * 10, 10, 1.0) == []
        assert len(list(rows.all())) == 1

    def test_queues_are_even(self, store):
        rows = FeedRows(store)
        for number in range(1_000):
            rows.put(feed(number))
        sizes = [store.zcard(f"feeds:due:{p}") for p in range(PARTITIONS)]
        assert sum(sizes) == 1_000
        assert max(sizes) < 70
        assert rows.next_due() == 0.0


def offer(article: str = "a1", text: str = "t1", title: str = "h1", **more) -> Offer:
    return Offer(article, more.pop("publisher", "p"), text, title, more.pop("seen_at", NOW), **more)


class TestArticleRows:
    def test_new_then_known(self, store):
        rows = ArticleRows(store)
        (first,) = rows.offer([offer()])
        assert (first.verdict, first.version, first.first_seen_at) == ("new", 1, NOW)
        rows.confirm([("a1", 1)])
        (again,) = rows.offer([offer(seen_at=NOW + 99)])
        assert (again.verdict, again.first_seen_at, again.duplicate_of) == ("duplicate", NOW, "a1")

    def test_a_crash_between_write_and_commit_repeats_the_event(self, store):
        rows = ArticleRows(store)
        rows.offer([offer()])
        (again,) = rows.offer([offer(seen_at=NOW + 50)])
        assert (again.verdict, again.version, again.first_seen_at, again.speaks) == ("repeat", 1, NOW, True)
        rows.confirm([("a1", 1)])
        assert rows.offer([offer()])[0].verdict == "duplicate"

    def test_a_whole_batch_repeats_with_the_same_versions(self, store):
        """v1 and v2 of one article in one batch whose commit failed: the second run says the same as the first."""
        rows = ArticleRows(store)
        batch = [offer(), offer(title="h2"), offer("a2", "t2")]
        first = rows.offer(batch)
        second = rows.offer(batch)
        assert [r.verdict for r in first] == ["new", "update", "new"]
        assert [r.verdict for r in second] == ["repeat"] * 3
        assert [r.version for r in first] == [r.version for r in second] == [1, 2, 1]

    def test_a_corrected_headline_is_a_new_version_seen_when_the_article_was(self, store):
        rows = ArticleRows(store)
        rows.offer([offer()])
        (update,) = rows.offer([offer(title="h2", seen_at=NOW + 500)])
        assert (update.verdict, update.version, update.first_seen_at) == ("update", 2, NOW)

    def test_a_later_date_on_the_same_text_is_nothing_new(self, store):
        rows = ArticleRows(store)
        rows.offer([offer(modified_at=NOW)])
        rows.confirm([("a1", 1)])
        assert rows.offer([offer(modified_at=NOW + 86_400, seen_at=NOW + 86_400)])[0].verdict == "duplicate"

    def test_an_older_rendition_that_comes_late_changes_nothing(self, store):
        rows = ArticleRows(store)
        rows.offer([offer(modified_at=NOW), offer(text="t2", modified_at=NOW + 60)])
        rows.confirm([("a1", 1), ("a1", 2)])
        (late,) = rows.offer([offer(modified_at=NOW, seen_at=NOW - 10)])
        assert (late.verdict, late.version) == ("duplicate", 2)

    def test_the_same_text_of_the_same_publisher_under_another_address_is_a_duplicate(self, store):
        rows = ArticleRows(store)
        found = rows.offer([offer(), offer("a2"), offer("a3", publisher="q"), offer("a4", own_text=False)])
        assert [r.verdict for r in found] == ["new", "duplicate", "new", "new"]
        assert found[1].duplicate_of == "a1"
        assert store.exists("article:a2") == 0

    def test_the_feeds_words_do_not_replace_the_page(self, store):
        rows = ArticleRows(store)
        rows.offer([offer(), offer("b", "t9", from_feed=True)])
        rows.confirm([("a1", 1), ("b", 1)])
        poorer, corrected = rows.offer([offer(text="x", from_feed=True), offer(text="x", title="h2", from_feed=True)])
        assert (poorer.verdict, corrected.verdict) == ("duplicate", "update")
        assert rows.offer([offer("b", "t10")])[0].verdict == "update", "the page arrived at last"

    def test_rows_come_back_from_the_lake_and_existing_rows_win(self, store):
        rows = ArticleRows(store)
        assert rows.restore([(offer(), 3)]) == 1
        (found,) = rows.offer([offer(title="h2", seen_at=NOW + 1)])
        assert (found.verdict, found.version, found.first_seen_at) == ("update", 4, NOW)
        assert rows.restore([(offer(), 3)]) == 0

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        steps=st.lists(
            st.tuples(st.sampled_from(["t1", "t2"]), st.sampled_from(["h1", "h2"]), st.booleans()), max_size=12
        )
    )
    def test_law_versions_only_grow_and_first_seen_never_moves(self, store, steps):
        store.flushall()
        rows = ArticleRows(store)
        highest, first = 0, None
        for step, (text, title, confirm) in enumerate(steps):
            (ruling,) = rows.offer([offer("a", text, title, seen_at=NOW + step)])
            first = ruling.first_seen_at if first is None else first
            assert ruling.first_seen_at == first
            if ruling.verdict in ("new", "update"):
                assert ruling.version == highest + 1
            highest = max(highest, ruling.version)
            if confirm:
                rows.confirm([("a", ruling.version)])
        assert int(store.hget("article:a", "version") or 0) == highest
