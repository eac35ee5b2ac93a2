"""Links across languages: symmetric, deterministic, at most one a pair and one partner a language, never by number."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.article import derive
from frontpage.domain.links import (
    LinkIndex,
    LinkPolicy,
    Side,
    centre,
    link_id,
    near,
    pair_of,
    representatives,
    side_of,
)
from frontpage.domain.story import Member, Story

MARKS = [f"e:person {i}" for i in range(6)] + [f"w:{i}" for i in range(4)] + [f"n:{i}0" for i in range(4)]
DAY = 86_400.0


def times() -> st.SearchStrategy[tuple[float, float] | None]:
    spans = st.tuples(st.floats(0, 10 * DAY), st.floats(0, 2 * DAY)).map(lambda t: (t[0], t[0] + t[1]))
    return st.none() | spans


@st.composite
def worlds(draw: st.DrawFn) -> list[Side]:
    """A handful of stories in three languages."""
    made = []
    for number in range(draw(st.integers(2, 9))):
        span = draw(times())
        first, last = span if span is not None else (None, None)
        marks = draw(st.frozensets(st.sampled_from(MARKS)))
        made.append(Side(f"s{number}", draw(st.sampled_from(["en", "de", "fr"])), marks, first, last))
    return made


def index(sides: list[Side]) -> LinkIndex:
    made = LinkIndex(LinkPolicy(bar=0.5))
    for side in sides:
        made.put(side)
    return made


def edges(world: LinkIndex, cosines: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    pairs = {pair_of(one, other) for one in world.sides for other in world.partners(one)}
    scored = {pair: world.score(*pair, cosines[pair]) for pair in pairs}
    return {pair: score for pair, score in scored.items() if score is not None}


@given(worlds(), st.data())
def test_a_pair_is_judged_the_same_from_either_side(sides: list[Side], data: st.DataObject) -> None:
    world = index(sides)
    for one in sides:
        for other in sides:
            assert near(one, other, DAY) == near(other, one, DAY)
            if one is other:
                continue
            assert world.evidence(one, other) == world.evidence(other, one)
            cosine = data.draw(st.floats(-1, 1))
            there, back = (
                world.score(one.story_id, other.story_id, cosine),
                world.score(other.story_id, one.story_id, cosine),
            )
            assert there == back
            assert there is None or (0 <= there <= 1 and one.language != other.language)
            assert (other.story_id in world.partners(one.story_id)) == (one.story_id in world.partners(other.story_id))


@given(worlds(), st.data())
def test_each_pair_is_linked_once_and_each_story_once_per_language(sides: list[Side], data: st.DataObject) -> None:
    ids = [side.story_id for side in sides]
    pairs = [pair_of(a, b) for a in ids for b in ids if a < b]
    # equal scores are drawn on purpose: ties must be settled too
    cosines = {pair: data.draw(st.sampled_from([0.2, 0.55, 0.6, 0.9])) for pair in pairs}
    world = index(sides)
    found = edges(world, cosines)
    links = world.mutual(found)
    assert len({link.link_id for link in links}) == len(links) == len({(link.left, link.right) for link in links})
    language = {side.story_id: side.language for side in sides}
    partners = Counter(
        (one, language[other]) for link in links for one, other in ((link.left, link.right), (link.right, link.left))
    )
    assert all(count == 1 for count in partners.values())
    assert all(language[link.left] != language[link.right] for link in links)
    # the strongest edge of all is always one of them, so that something is linked when something may be
    if found:
        best = max(found.values())
        assert any(link.score == best for link in links)
    order = data.draw(st.permutations(sides))
    again = index(list(order))
    assert again.mutual(dict(reversed(list(edges(again, cosines).items())))) == links


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_links_id_is_that_of_the_pair(one: str, other: str) -> None:
    assert link_id(one, other) == link_id(other, one)
    assert pair_of(one, other) == pair_of(other, one)


@given(worlds())
def test_a_dropped_story_leaves_nothing_behind(sides: list[Side]) -> None:
    world = index(sides)
    world.put(sides[0])  # again: replaces itself
    for side in sides:
        world.drop(side.story_id)
        world.drop(side.story_id)
        assert all(side.story_id not in world.partners(other.story_id) for other in sides)
    assert not world.sides
    assert all(world.rarity(mark) == 0 for mark in MARKS)


def pair(left: frozenset[str], right: frozenset[str], **policy: float) -> LinkIndex:
    world = LinkIndex(LinkPolicy(**policy))
    world.put(Side("a", "en", left, 0.0, 0.0))
    world.put(Side("b", "de", right, 0.0, 0.0))
    return world


def test_numbers_alone_link_nothing_however_close_the_texts() -> None:
    numbers = frozenset({"n:2-1", "n:58", "n:1968"})
    assert pair(numbers, numbers).score("a", "b", 1.0) is None
    assert pair(numbers | {"w:7"}, numbers | {"w:7"}).score("a", "b", 0.61) is not None


def test_two_towns_speak_against_one_event() -> None:
    here, there = frozenset({"w:7", "e:porto, pt"}), frozenset({"w:7", "e:lima, pe"})
    assert pair(here, here).score("a", "b", 0.7) is not None
    assert pair(here, there).score("a", "b", 0.7) is None


def test_words_of_a_shared_entity_count_once() -> None:
    article = derive(article_id="x", title="A visit by Ada Lovelace", entities=["Ada Lovelace"])
    marks = side_of(_story("s", [article])).marks
    assert any(mark.startswith("w:") for mark in marks)
    named = [m for m in marks if m.startswith("e:")]
    world = pair(marks, marks)
    alone = pair(frozenset(named), frozenset(named))
    words = {m for m in marks if m.startswith("w:")}
    (both, _), (entity, _) = (w.evidence(w.sides["a"], w.sides["b"]) for w in (world, alone))
    # three capitalised words: "A" is too short, "Ada" and "Lovelace" belong to the entity
    assert len(words) == 2
    assert both == pytest.approx(entity)


def test_a_day_between_two_stories_is_not_too_much_and_two_are() -> None:
    marks = frozenset({"w:7", "w:8"})
    for gap, linked in ((0.9 * DAY, True), (2 * DAY, False)):
        world = LinkIndex()
        world.put(Side("a", "en", marks, 0.0, 100.0))
        world.put(Side("b", "de", marks, 100.0 + gap, 100.0 + 3 * DAY))
        assert (world.score("a", "b", 0.9) is not None) == linked
        assert (world.partners("a") == ["b"]) == linked


def test_a_mark_that_most_stories_show_is_no_evidence() -> None:
    world = LinkIndex()
    for number in range(2_000):
        world.put(Side(f"x{number}", "en", frozenset({"e:united states"}), 0.0, 0.0))
    world.put(Side("a", "en", frozenset({"e:united states", "w:7"}), 0.0, 0.0))
    world.put(Side("b", "de", frozenset({"e:united states", "w:7"}), 0.0, 0.0))
    assert world.rarity("e:united states") < 0.01
    assert world.partners("b") == ["a"]


def test_copies_neither_represent_a_story_nor_mark_it() -> None:
    original = derive(article_id="o", title="Harbour of Oslo closed", entities=["Oslo, NO"])
    copy = derive(article_id="c", title="Harbour of Oslo closed | Bergen Post", entities=["Bergen, NO"])
    story = _story("s", [copy, original])
    story.add(Member(copy, None, 0.0, copy_of="o"))
    assert [member.article.article_id for member in representatives(story)] == ["o"]
    assert "e:bergen, no" not in side_of(story).marks
    assert "e:oslo, no" in side_of(story).marks


def test_the_centre_has_unit_norm_and_survives_opposite_vectors() -> None:
    one = np.array([1.0, 0.0], dtype=np.float32)
    other = np.array([0.0, 1.0], dtype=np.float32)
    assert np.linalg.norm(centre([one, other])) == pytest.approx(1.0)
    assert centre([one, -one]).tolist() == [0.0, 0.0]


def _story(story_id: str, articles: list) -> Story:
    story = Story(story_id, "en", 0.0, 0.0)
    for number, article in enumerate(articles):
        story.add(Member(article, None, float(number)))
    return story
