"""The scorecard of a group of feeds: shares, delays by both measures, requests a minute."""

from __future__ import annotations

from frontpage.adapters.feed_rows import FeedRow, FeedSource
from frontpage.domain.audit import Watch
from frontpage.domain.schedule import FeedState
from streaming.ingest.scorecard import score

NOW = 1_780_000_000.0


def row(feed: str, **state) -> FeedRow:
    return FeedRow(FeedSource(feed, f"https://{feed}.example/feed", feed, f"{feed}.example"), FeedState(**state))


def test_counts_of_all_feeds_become_shares_and_a_rate_since_the_first_poll():
    """`since` reaches back to the oldest item of the first poll: the rate must not be diluted by that week."""
    rows = [
        row("a", polls=60, not_modified=45, fruitful=12, failed=3, new_items=20, delay=40.0, first_at=NOW - 3_600.0,
            since=NOW - 7 * 86_400.0, hurry=2),
        row("b", polls=20, not_modified=15, fruitful=0, failed=5, first_at=NOW - 1_800.0, stopped="gone"),
        row("c", outrun=2.0),
    ]  # fmt: skip
    watches = {"a": Watch("a", FeedState(), found=9, missed=1, delay=55.0), "x": Watch("x", FeedState(), delay=1e6)}
    line = score("all", rows, watches, NOW)
    assert (line["feeds"], line["polls"], line["new_items"], line["stopped"]) == (3, 80, 20, 1)
    assert (line["not_modified_share"], line["waste_share"], line["failed_share"]) == (0.75, 0.85, 0.1)
    assert (line["delay_seconds"], line["audit_delay_seconds"]) == (40.0, 55.0)
    assert (line["audited"], line["audit_missed"], line["under_polled"], line["outran"]) == (1, 1, 1, 1)
    assert line["polls_per_minute"] == 80 / 60


def test_feeds_that_were_never_polled_have_no_delay_and_no_rate():
    line = score("c", [row("c")], {}, NOW)
    assert (line["polls"], line["delay_seconds"], line["audit_delay_seconds"]) == (0, None, None)
    assert line["polls_per_minute"] == 0
