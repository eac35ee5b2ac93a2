"""Days of polling in virtual time: `benchmarks/week.py` over one publisher of each kind, and its twin of the feeds' rows."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.valkey import running
from benchmarks.week import Week, simulate
from benchmarks.week_sites import DAY, HOUR, START, one_of_each, sites
from frontpage.domain.ids import feed_id
from frontpage.domain.schedule import FeedState

DAYS = 2.7


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    """Nearly three days, so that moves, deaths and maintenance are behind us."""
    with running(tmp_path_factory.mktemp("week")) as url:
        return simulate(url, one_of_each(random.Random(7), START + DAYS * DAY), DAYS, audited=0)


def feed(week: Week, quirk: str):
    return next(one for one in week.feeds if one.quirk == quirk and one.tier == "tail")


def state(week: Week, quirk: str) -> FeedState:
    return week.rows.get(feed_id(feed(week, quirk).url)).state


def polls(week: Week, quirk: str, after: float = 0.0) -> list[float]:
    """Days at which the feed was polled."""
    return [at / DAY for at in week.ledger.polls[feed_id(feed(week, quirk).url)] if at / DAY > after]


def delays(week: Week, quirk: str, after: float = 0.1, before: float = DAYS - 1.1) -> list[float]:
    """Of what it published between two days; not found: none."""
    one = feed(week, quirk)
    return [
        week.ledger.seen[one.address(item)][0] - item.at
        for item in one.items
        if after * DAY < item.at - START < before * DAY and one.address(item) in week.ledger.seen
    ]


def test_no_host_and_no_domain_is_asked_more_than_its_budget(week: Week):
    figures = week.figures()
    assert figures["requests"] > 2_000
    limits = ("over_domain_budget", "over_host_budget", "under_crawl_delay", "during_retry_after", "forged_taken")
    assert {name: figures[name] for name in limits} == dict.fromkeys(limits, 0)


def test_a_top_feed_is_read_within_two_minutes_and_mostly_answers_304(week: Week):
    figures = week.figures()
    assert figures["busy_items"] > 100
    assert figures["busy_delay_p90_s"] < 120
    assert figures["busy_not_modified"] > 0.75


def test_nothing_is_lost_whatever_servers_claim(week: Week):
    for one in week.feeds:
        missing = [
            item
            for item in one.items
            if 600 < item.at - START < (DAYS - 1.1) * DAY
            and one.readable(item.at)
            and one.address(item) not in week.ledger.seen
        ]
        assert missing == [], one.quirk


def test_gone_is_not_asked_again_and_a_forbidden_feed_never(week: Week):
    assert state(week, "gone").stopped == "gone"
    assert len(polls(week, "gone", after=2.0)) == 1
    assert feed(week, "closed").answers == 0


def test_a_move_for_good_is_followed_and_a_detour_is_not(week: Week):
    assert state(week, "moved").moved_to == "https://new-www.moved.example/feed"
    assert state(week, "moved").errors == 0, "its old host is dead by now"
    assert state(week, "detour").moved_to is None
    assert state(week, "detour").errors == 0


def test_useless_validators_are_dropped(week: Week):
    assert state(week, "new-etag").trust == "always-new"
    assert state(week, "stuck").trust == "never-new"
    assert state(week, "honest").trust == state(week, "max-age").trust == "yes"


def test_a_month_of_freshness_on_a_feed_of_every_day_is_not_believed_for_long(week: Week):
    assert state(week, "wrong-max-age").contradicted >= 2
    late = polls(week, "wrong-max-age", after=2.3)
    assert len(late) >= 7, "about once an hour"


def test_a_hub_replaces_polls_and_one_that_sleeps_does_not_hide_news(week: Week):
    arrived = [
        by for url, (_, by) in week.ledger.seen.items() if url.startswith("https://www.hub.example/") and by != "poll"
    ]
    assert len(arrived) >= 0.9 * len(delays(week, "hub"))
    assert max(delays(week, "hub")) < 60
    assert max(delays(week, "sleeping-hub", after=1.3, before=DAYS - 0.1)) < 1.2 * HOUR


def test_overload_slows_us_down_and_ends_nothing(week: Week):
    assert state(week, "overload").stopped is None
    assert max(delays(week, "overload")) < 8 * HOUR, "two hours of overload, and waits that doubled meanwhile"


def test_twin_of_the_rows_does_what_the_store_does(tmp_path: Path):
    """Two hours over both: the same items, and as many polls but for the seconds at which they fall."""
    runs = []
    for name, real in (("twin", False), ("store", True)):
        (tmp_path / name).mkdir()
        with running(tmp_path / name) as url:
            feeds = sites(random.Random(3), busy=3, main=5, tail=10, end=START + 2 * HOUR)
            runs.append(simulate(url, feeds, 2 / 24, real_rows=real))
    twin, store = (run.ledger for run in runs)
    until = START + 1.5 * HOUR
    assert {url for url, (at, _) in twin.seen.items() if at < until} <= store.seen.keys()
    assert {url for url, (at, _) in store.seen.items() if at < until} <= twin.seen.keys()
    counts = [sum(map(len, ledger.polls.values())) for ledger in (twin, store)]
    assert counts[0] > 200
    assert twin.looks > 10, "the audit runs over both"
    assert abs(counts[0] - counts[1]) <= 0.03 * counts[0]
