"""The writer's decisions on articles of our own making, with a scorer that can be read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.stories import BUDGET, FERRY, article, policy

from frontpage.domain.clustering import Clusterer
from frontpage.domain.recluster import Proposal, components, cut, propose
from frontpage.domain.story import Change, StoryBook

HOUR = 3600.0
NOW = 1_700_000_000.0


@pytest.fixture
def writer():
    return Clusterer(policy, StoryBook(), partition=0)


def feed(writer, *articles, start=NOW):
    changes = []
    for offset, one in enumerate(articles):
        changes += writer.decide(one, start + offset, ("articles.normalised", 0, writer.book.sequence + offset))
    return changes


FERRY_A = article("f1", "Ferry with ninety aboard sinks off Port Sela", FERRY, publisher="wire")
FERRY_B = article("f2", "Ninety aboard as ferry sinks off Port Sela", "The ferry sank after it struck a reef.")
FERRY_COPY = article(
    "f3", "Coast guard rescues ferry passengers", FERRY + " Our reporter was there.", publisher="paper"
)
BUDGET_A = article("b1", "Parliament passes budget by one vote", BUDGET)


def test_one_event_joins_and_another_starts_a_story(writer):
    kinds = [change.kind for change in feed(writer, FERRY_A, BUDGET_A, FERRY_B)]
    assert kinds == ["create", "create", "assign"]
    assert writer.book.story_of["f1"] == writer.book.story_of["f2"] != writer.book.story_of["b1"]


def test_a_copy_joins_its_original_and_counts_once(writer):
    change = feed(writer, FERRY_A, FERRY_COPY)[1]
    assert (change.kind, change.copy_of) == ("assign", "f1")
    story = writer.book.stories[change.story_id]
    assert story.sources == {"wire": 1}
    assert len(story.members) == 2


def test_a_copy_of_a_copy_is_credited_to_the_original(writer):
    again = article("f4", "Passengers saved", FERRY_COPY.title + ". " + FERRY, publisher="third")
    assert [change.copy_of for change in feed(writer, FERRY_A, FERRY_COPY, again)] == [None, "f1", "f1"]


def test_the_same_version_again_changes_nothing_and_a_new_one_updates(writer):
    feed(writer, FERRY_A)
    assert writer.decide(FERRY_A, NOW + 5, ("t", 0, 9)) == []
    corrected = article("f1", "Ferry with ninety-one aboard sinks off Port Sela", FERRY, publisher="wire", version=2)
    change = writer.decide(corrected, NOW + 6, ("t", 0, 10))[0]
    assert change.kind == "update"
    assert writer.book.stories[change.story_id].members["f1"].article.version == 2


def test_the_same_inputs_give_the_same_changes():
    first, second = (Clusterer(policy, StoryBook()) for _ in range(2))
    stream = (FERRY_A, BUDGET_A, FERRY_B, FERRY_COPY)
    one, two = feed(first, *stream), feed(second, *stream)
    assert [(c.change_id, c.story_id, c.kind) for c in one] == [(c.change_id, c.story_id, c.kind) for c in two]


def test_a_writer_rebuilt_from_the_log_decides_like_the_one_before(writer):
    log = feed(writer, FERRY_A, BUDGET_A)
    heir = Clusterer(policy, StoryBook().replay(log))
    for mind in (writer, heir):
        change = mind.decide(FERRY_B, NOW + 100, ("t", 0, 77))[0]
        assert (change.sequence, change.story_id) == (3, writer.book.story_of["f1"])


def test_stories_close_after_the_window(writer):
    feed(writer, FERRY_A)
    assert writer.expire(NOW + 47 * HOUR, ("t", 0, 1)) == []
    assert [change.kind for change in writer.expire(NOW + 49 * HOUR, ("t", 0, 2))] == ["close"]
    assert not writer.book.stories
    assert [change.kind for change in feed(writer, FERRY_B, start=NOW + 50 * HOUR)] == ["create"]


def two_stories(writer):
    """One event in two stories: greed that has to be repaired."""
    for sequence, one in enumerate((FERRY_A, FERRY_B), start=1):
        writer.apply(Change(f"c{sequence}", sequence, "en", "create", f"s{sequence}", NOW + sequence, article=one))


def test_repair_merges_into_the_older_story_once_in_half_an_hour(writer):
    two_stories(writer)
    changes = writer.repair(NOW + 60, ("tick", 0, 1))
    assert [(change.kind, change.story_id, change.absorbed) for change in changes] == [("merge", "s1", ("s2",))]
    assert writer.book.resolve("s2") == "s1"
    writer.apply(Change("c9", 4, "en", "create", "s3", NOW + 70, article=article("f9", FERRY_B.title, FERRY)))
    assert writer.repair(NOW + 80, ("tick", 0, 2)) == []
    assert [change.kind for change in writer.repair(NOW + 60 + 1801, ("tick", 0, 3))] == ["merge"]


def test_repair_leaves_different_events_and_old_stories_alone(writer):
    feed(writer, FERRY_A, BUDGET_A)
    assert writer.repair(NOW + 60, ("tick", 0, 1)) == []
    two = Clusterer(policy, StoryBook())
    two_stories(two)
    assert two.repair(NOW + 7 * HOUR, ("tick", 0, 1)) == []


def test_a_story_of_two_events_splits_when_each_half_has_three_sources(writer):
    halves = [article(f"f{n}", FERRY_A.title, f"Reporter {n}. {FERRY}", publisher=f"p{n}") for n in range(3)]
    halves += [article(f"b{n}", BUDGET_A.title, f"Reporter {n}. {BUDGET}", publisher=f"q{n}") for n in range(3)]
    for sequence, one in enumerate(halves, start=1):
        writer.apply(Change(f"c{sequence}", sequence, "en", "assign", "s1", NOW, article=one))
    changes = writer.repair(NOW + 60, ("tick", 0, 1))
    assert [change.kind for change in changes] == ["split"]
    assert {name[0] for name in writer.book.stories["s1"].members} == {"f"}
    assert sorted(changes[0].moved) == ["b0", "b1", "b2"]


def test_proposals_are_checked_against_the_present(writer):
    two_stories(writer)
    merge = Proposal("p1", "en", "merge", ("s1", "s2"))
    assert writer.consider(replace(merge, stories=("s1", "s9")), NOW + 9, ("p", 0, 0)) == []
    assert [change.kind for change in writer.consider(merge, NOW + 10, ("p", 0, 1))] == ["merge"]
    assert writer.consider(merge, NOW + 11, ("p", 0, 2)) == []
    apart = Clusterer(policy, StoryBook())
    feed(apart, FERRY_A, BUDGET_A)
    assert apart.consider(Proposal("p2", "en", "merge", tuple(apart.book.stories)), NOW + 9, ("p", 0, 0)) == []


def test_average_link_does_not_chain():
    chain = [("a", "b", 3.0), ("b", "c", 3.0), ("c", "d", 3.0)]
    assert components("abcd", chain) == [["a", "b", "c", "d"]]
    assert cut("abcd", chain, 0.0) == [["a", "b"], ["c", "d"]]
    assert cut("abcd", [*chain, ("a", "c", 3.0), ("a", "d", 3.0), ("b", "d", 3.0)], 0.0) == [["a", "b", "c", "d"]]


def test_proposals_map_groups_to_the_story_with_the_largest_overlap():
    held = {"a": "s1", "b": "s1", "c": "s2", "d": "s3", "e": "s3", "f": "s3"}
    found = propose([["a", "b", "c"], ["d", "e"], ["f"]], held, "en", 5.0)
    assert [(p.kind, p.stories, p.groups) for p in found] == [
        ("merge", ("s1", "s2"), ()),
        ("split", ("s3",), (("f",),)),
    ]
    assert propose([["a", "b"], ["c"], ["d", "e", "f"]], held, "en", 5.0) == []
