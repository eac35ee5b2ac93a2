"""Whose headline: centrality and authority decide, near ties rotate, shares are capped, links are varied."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.headline import headline_quality
from frontpage.domain.representative import Candidate, Choice, Exposure, choose

NOW = 1_700_000_000.0
TITLE = "Ministers agree on a plan to rebuild the harbour"


def candidate(name: str, **changes: object) -> Candidate:
    vector = np.zeros(16, dtype=np.float32)
    vector[hash_of(name)] = 1.0
    plain = Candidate(f"art-{name}", f"pub-{name}", TITLE, "en", NOW - 600, 0.6, 0.8, vector)
    return replace(plain, **changes)  # type: ignore[arg-type]


def hash_of(name: str) -> int:
    return sum(map(ord, name)) % 16


def pick(
    candidates: list[Candidate],
    now: float = NOW,
    exposure: Exposure | None = None,
    edition: str = "en-GB",
    story: str = "s1",
) -> Choice:
    choice = choose(candidates, story_id=story, edition=edition, language="en", now=now, exposure=exposure)
    assert choice is not None
    return choice


def test_the_central_report_wins_clearly_and_the_loser_learns_why():
    choice = pick([candidate("a", centrality=0.95), candidate("b", centrality=0.8)])
    assert choice.article_id == "art-a"
    assert [(lost.article_id, lost.why) for lost in choice.lost] == [("art-b", "less central to the story")]


def test_near_ties_rotate_by_the_hour_and_stay_within_it():
    """Over a day each of three equals has its turn; within an hour the card does not change."""
    rivals = [candidate(name, first_seen=NOW + 86_400) for name in "abc"]
    wins = Counter()
    for hour in range(24):
        at = NOW + hour * 3600
        first = pick(rivals, now=at).article_id
        assert pick(rivals, now=at - at % 3600 + 3599).article_id == first
        wins[first] += 1
    assert set(wins) == {"art-a", "art-b", "art-c"}
    assert max(wins.values()) <= 16


def test_rotation_differs_between_editions_and_does_not_depend_on_the_order_given():
    rivals = [candidate(name) for name in "abcdef"]
    picks = {pick(rivals, edition=e).article_id for e in ("en-GB", "en-US", "en-IN", "en-AU", "en-IE", "en-NZ")}
    assert len(picks) > 1
    assert pick(rivals).article_id == pick(rivals[::-1]).article_id


def test_within_the_band_a_free_article_goes_before_a_paywalled_one():
    choice = pick([candidate("a", paywalled=True, centrality=0.82), candidate("b", centrality=0.80)])
    assert choice.article_id == "art-b"
    assert "paywall" in choice.lost[0].why
    better = pick([candidate("a", paywalled=True, centrality=0.99), candidate("b", centrality=0.70)])
    assert better.article_id == "art-a", "beyond the band the best coverage wins, paywalled or not"


def test_a_publisher_over_its_share_yields_near_ties_but_keeps_clear_wins():
    exposure = Exposure()
    exposure.add("pub-a", 20)
    for i in range(180):
        exposure.add(f"other{i % 30}", 1)
    assert exposure.share("pub-a") == pytest.approx(0.1)
    tie = pick([candidate("a", centrality=0.81), candidate("b")], exposure=exposure)
    assert tie.article_id == "art-b"
    assert "share" in tie.lost[0].why
    clear = pick([candidate("a", centrality=0.99), candidate("b", centrality=0.6)], exposure=exposure)
    assert clear.article_id == "art-a"


def test_a_share_of_little_is_not_judged():
    exposure = Exposure()
    exposure.add("pub-a", 5)
    assert exposure.share("pub-a") == 0.0


def test_the_first_report_and_a_local_publisher_are_boosted():
    late = candidate("b", first_seen=NOW - 300)
    assert pick([candidate("a", first_seen=NOW - 1200), late]).article_id == "art-a"
    assert pick([candidate("a", first_seen=NOW), replace(late, first_seen=NOW, local=True)]).article_id == "art-b"


def test_only_originals_of_the_last_six_hours_in_the_editions_language_compete():
    old = candidate("old", first_seen=NOW - 7 * 3600, centrality=1.0, authority=1.0)
    copy = candidate("copy", original=False, centrality=1.0, authority=1.0, wire="art-a")
    foreign = candidate("fr", language="fr", centrality=1.0, authority=1.0)
    choice = pick([candidate("a"), old, copy, foreign])
    assert choice.article_id == "art-a"
    assert all(article != "art-fr" for article in choice.supporting)
    assert ("art-copy", "a copy of another publisher's report") in [(lost.article_id, lost.why) for lost in choice.lost]
    assert pick([old]).article_id == "art-old", "a story still on the page needs a headline"
    assert choose([foreign], story_id="s", edition="en-GB", language="en", now=NOW) is None


def test_opinion_represents_only_when_alone():
    opinion = candidate("op", kind="opinion", centrality=1.0, authority=1.0)
    assert pick([candidate("a", centrality=0.3), opinion]).article_id == "art-a"
    assert pick([opinion]).article_id == "art-op"


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.floats(0, 1), st.floats(0, 1), st.sampled_from(["", "w1", "w2"]), st.booleans()),
        min_size=1, max_size=25,
    )
)  # fmt: skip
def test_supporting_links_are_four_at_most_of_distinct_publishers_and_texts(rows):
    candidates = [
        candidate(f"{i}", publisher_id=f"p{p}", centrality=c, authority=a, wire=w or f"art-{i}", original=o)
        for i, (p, c, a, w, o) in enumerate(rows)
    ]
    choice = choose(candidates, story_id="s", edition="en-GB", language="en", now=NOW)
    assert choice is not None
    by_id = {c.article_id: c for c in candidates}
    shown = [by_id[choice.article_id], *(by_id[id] for id in choice.supporting)]
    assert len(choice.supporting) <= 4
    assert len({c.publisher_id for c in shown}) == len(shown)
    assert len({c.wire for c in shown}) == len(shown)


def test_concentration_of_equal_publishers_is_one_over_their_number():
    exposure = Exposure()
    for name in "abcd":
        exposure.add(name, 25)
    assert exposure.herfindahl() == pytest.approx(0.25)


@pytest.mark.parametrize(
    "worse",
    [
        "",
        "Weather",
        "YOU WON'T BELIEVE WHAT THE MINISTERS SAID",
        "Here's why ministers want a new harbour",
        "Ministers agree!!",
        TITLE * 5,
    ],
)
def test_a_plain_headline_beats(worse: str):
    assert headline_quality(worse) < headline_quality(TITLE) == 1.0


@given(st.text(max_size=300))
def test_any_headline_scores_between_zero_and_one(title: str):
    assert 0.0 <= headline_quality(title) <= 1.0


def test_other_scripts_are_judged_alike():
    assert headline_quality("政府、港の再建計画で合意") == 1.0
    assert headline_quality("اتفق الوزراء على خطة لإعادة بناء الميناء") == 1.0
