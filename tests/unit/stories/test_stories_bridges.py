"""Live blogs bring no two stories together; who keeps the id of a split; what readers' reports move."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.stories import BUDGET, FERRY, article, policy

from frontpage.domain.clustering import Clusterer
from frontpage.domain.recluster import Proposal, cut, reported
from frontpage.domain.story import Change, StoryBook

NOW = 1_700_000_000.0
FERRY_TITLE, BUDGET_TITLE = "Ferry with ninety aboard sinks off Port Sela", "Parliament passes budget by one vote"


def of_kind(kind: str, name: str, title: str, body: str = ""):
    return replace(article(name, title, body), kind=kind)


def writer_of(stories: dict[str, list]) -> Clusterer:
    writer, sequence = Clusterer(policy, StoryBook()), 0
    for story, members in stories.items():
        for one in members:
            sequence += 1
            writer.apply(Change(f"c{sequence}", sequence, "en", "assign", story, NOW, article=one))
    return writer


@pytest.mark.parametrize(("kind", "merged"), [("news", True), ("live", False)])
def test_a_live_blog_in_one_story_does_not_pull_in_another(kind: str, merged: bool):
    """The blog's entries word both events; without it the two have nothing in common."""
    blogs = [of_kind(kind, f"l{n}", FERRY_TITLE, FERRY) for n in range(5)]
    writer = writer_of({"s1": [article("b", BUDGET_TITLE, BUDGET), *blogs], "s2": [article("f", FERRY_TITLE, FERRY)]})
    kinds = [change.kind for change in writer.repair(NOW + 60, ("r", 0, 0))]
    assert ("merge" in kinds) == merged
    assert "s1" in writer.book.stories
    assert ("s2" in writer.book.stories) != merged


def test_a_story_of_nothing_but_a_live_blog_still_finds_its_own():
    writer = writer_of({"s1": [of_kind("live", "l", FERRY_TITLE, FERRY)], "s2": [article("f", FERRY_TITLE, FERRY)]})
    assert [change.kind for change in writer.repair(NOW + 60, ("r", 0, 0))] == ["merge"]


def test_re_clustering_hangs_a_loose_node_on_one_group():
    links = [("a", "b", 5.0), ("c", "d", 5.0), *((x, "l", 4.0 if x in "ab" else 6.0) for x in "abcd"), ("l", "m", 9.0)]
    whole = [*links, ("a", "c", -1.0), ("a", "d", -1.0), ("b", "c", -1.0), ("b", "d", -1.0)]
    assert cut("abcdl", whole, -0.5) == [["a", "b", "c", "d", "l"]], "as news it bridges"
    assert cut("abcdlm", whole, -0.5, loose={"l", "m"}) == [["a", "b"], ["c", "d", "l"], ["m"]]
    assert cut("lm", links, 0.0, loose={"l", "m"}) == [["l"], ["m"]], "nor do two of them make a story"
    assert cut("abl", [("a", "b", 5.0)], 0.0, loose={"l"}) == [["a", "b"], ["l"]]


def halves() -> dict[str, list]:
    ferry = [article(f"f{n}", FERRY_TITLE, f"Reporter {n}. {FERRY}", publisher=f"p{n}") for n in range(4)]
    budget = [article(f"b{n}", BUDGET_TITLE, f"Reporter {n}. {BUDGET}", publisher=f"q{n}") for n in range(3)]
    return {"s1": [*ferry, *budget]}


@pytest.mark.parametrize(("shown", "keeps"), [(None, "f"), ("f2", "f"), ("b1", "b"), ("unknown", "f")])
def test_the_half_with_the_representative_keeps_the_id(shown: str | None, keeps: str):
    writer = writer_of(halves())
    writer.reviews.front = {} if shown is None else {"s1": shown}
    assert [change.kind for change in writer.repair(NOW + 60, ("r", 0, 0))] == ["split"]
    assert {name[0] for name in writer.book.stories["s1"].members} == {keeps}


@pytest.mark.parametrize("shown", ["f2", "b1"])
def test_so_it_does_when_the_batch_layer_proposes_the_split(shown: str):
    writer = writer_of(halves())
    writer.reviews.front = {"s1": shown}
    proposal = Proposal("p", "en", "split", ("s1",), (("b0", "b1", "b2"),))
    assert [change.kind for change in writer.consider(proposal, NOW + 60, ("p", 0, 0))] == ["split"]
    assert {name[0] for name in writer.book.stories["s1"].members} == {shown[0]}


def test_what_readers_report_goes_where_it_fits_better_and_nowhere_else():
    ferry = [article(f"f{n}", FERRY_TITLE, f"Reporter {n}. {FERRY}", publisher=f"p{n}") for n in range(3)]
    budget = [article(f"b{n}", BUDGET_TITLE, f"Reporter {n}. {BUDGET}", publisher=f"q{n}") for n in range(2)]
    stray = article("b9", BUDGET_TITLE, f"Reporter 9. {BUDGET}", publisher="q9")
    writer = writer_of({"s1": [*ferry, stray], "s2": budget})
    right = reported("s1", "f1", 9, "en", NOW)
    assert writer.consider(right, NOW + 60, ("p", 0, 0)) == [], "readers alone move nothing"
    (change,) = writer.consider(reported("s1", "b9", 3, "en", NOW), NOW + 60, ("p", 0, 1))
    assert (change.kind, change.story_id, change.from_story, change.moved) == ("move", "s2", "s1", ("b9",))
    assert writer.consider(reported("s1", "b9", 3, "en", NOW), NOW + 120, ("p", 0, 2)) == []
