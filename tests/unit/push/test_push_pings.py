"""Pings are a publisher's or nobody's; feeds name their hub in headers or document; requests never fetch too often."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.push import FETCH_GAP, PING_SKEW, Advert, advertised, ping_refusal, ping_signature, ping_time
from frontpage.domain.schedule import Answer, FeedState, Policy, Terms, boosted, decide

NOW = 1_780_000_000.0
FEED = "https://paper.example/feed"
KEY = "the publisher's own key"


def refusal(at: str, *, key: str = KEY, feed: str = FEED, last: float | None = None, signature: str | None = None):
    return ping_refusal(
        KEY, FEED, at, ping_signature(key, feed, at) if signature is None else signature, last=last, now=NOW
    )


class TestPings:
    def test_signature_is_pinned_because_publishers_compute_it(self):
        assert ping_signature("k", "https://a.example/f", "1780000000") == (
            "7fa9d7ca016a3c6035e9f6bb9be543c03a9350496c41f43b4ca06502191b541f"
        )

    def test_a_genuine_ping_passes_once(self):
        assert refusal(f"{NOW:.0f}") is None
        assert refusal(f"{NOW:.0f}", last=NOW - 1) is None
        assert refusal(f"{NOW:.0f}", last=NOW) == "replay"
        assert refusal(f"{NOW - 10:.0f}", last=NOW) == "replay"

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"key": "another publisher's key"}, "signature"),
            ({"feed": "https://other.example/feed"}, "signature"),
            ({"signature": ""}, "signature"),
            ({"signature": "0" * 64}, "signature"),
            ({"signature": "é" * 64}, "signature"),
        ],
    )
    def test_forgeries_are_refused(self, changes, why):
        assert refusal(f"{NOW:.0f}", **changes) == why

    @pytest.mark.parametrize(
        "at", ["", "now", "-5", "1e9", "nan", "١٧٨٠٠٠٠٠٠٠", f"{NOW - PING_SKEW - 1:.0f}", f"{NOW + PING_SKEW + 1:.0f}"]
    )
    def test_times_that_are_none_or_far_from_ours_are_refused(self, at):
        assert refusal(at) == "time"

    @given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=70))
    def test_any_words_are_an_answer(self, feed, at, signature):
        assert ping_refusal(KEY, feed, at, signature, last=None, now=NOW) == "signature"
        assert ping_time(at) is None or ping_time(at) >= 0


class TestAdvertisement:
    def test_headers_go_before_the_document_and_the_feed_itself_is_the_default_topic(self):
        hub = "https://hub.example/"
        assert advertised(None, hub, FEED, "https://x.example/") == Advert(hub, FEED)
        assert advertised(None, hub, None, FEED) == Advert(hub, FEED)
        header = '<https://other.example/hub>; rel="hub", </feed?a=1,2>; rel=self; type="a,b", <https://late.example/>; rel="hub"'
        assert advertised(header, hub, "https://doc.example/", FEED) == Advert(
            "https://other.example/hub", "https://paper.example/feed?a=1,2"
        )
        assert advertised('<https://h.example/>;rel="preload HUB"', None, None, FEED) == Advert(
            "https://h.example/", FEED
        )

    @pytest.mark.parametrize("hub", [None, "", "ftp://hub.example/", "javascript:x", "https://hub.example/\n", "/hub"])
    def test_hubs_that_are_no_web_address_are_none(self, hub):
        assert advertised(None, hub, None, FEED) is None

    @given(st.text(max_size=200))
    def test_any_header_is_an_answer(self, header):
        found = advertised(header, None, None, FEED)
        assert found is None or found.hub.startswith("http")

    def test_hostile_headers_cost_little(self):
        assert advertised("<a>" + ';x="' * 3_000 + "<" * 3_000, None, None, FEED) is None


@given(
    notified=st.lists(st.floats(0, 400), min_size=1, max_size=40),
    took=st.floats(0, 20),
    errors=st.just(0),
)
def test_each_notification_is_followed_by_a_fetch_and_no_two_fetches_are_closer_than_30_seconds(notified, took, errors):
    """The poller in small: requests are applied in order, a poll of `took` seconds starts when the feed is due."""
    state = FeedState(next_at=NOW + 10_000, body_at=NOW, errors=errors)
    events, polls, now = sorted(NOW + at for at in notified), [], NOW
    while events or state.wanted_at is not None:
        due = state.next_at if state.next_at is not None else NOW + 10**9
        if events and events[0] <= due:
            now = max(now, events.pop(0))
            state = boosted(state, None, now, why="websub")
            continue
        now = max(now, due)
        polls.append(now)
        begun, claimed = now, state
        now += took
        state = decide(state, Answer(304), Terms("f", 300.0, Policy(), now)).state
        missed = [at for at in events if at <= now]
        events = [at for at in events if at > now]
        for at in missed:  # arrived while the poll ran: taken over by the row's merge
            assert at >= begun
            state = boosted(replace(state, last_at=now), None, max(at, now), why="websub")
        assert claimed.wanted_at is not None
    assert all(later - earlier >= FETCH_GAP - 1e-3 for earlier, later in pairwise(polls))
    assert all(any(poll >= NOW + at for poll in polls) for at in notified)
