"""Hard limits of a page, and maximal marginal relevance."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.diversity import Placed, arrange, mmr


def placed(name: str, section: str, axis: int, tilt: float = 0.0) -> Placed:
    vector = np.zeros(64, dtype=np.float32)
    vector[axis] = np.sqrt(1 - tilt**2)
    vector[63] += tilt
    return Placed(name, section, vector)


def test_a_fourth_story_of_a_section_waits_below_the_head():
    stories = [placed(f"s{i}", "sports", i) for i in range(6)] + [placed(f"w{i}", f"x{i}", 20 + i) for i in range(12)]
    ids, _ = arrange(stories, limit=18)
    assert sum(name.startswith("s") for name in ids[:10]) == 3
    assert ids[10:13] == ["s3", "s4", "s5"]


def test_a_page_of_one_section_is_not_left_short():
    stories = [placed(f"s{i}", "sports", i) for i in range(8)]
    assert arrange(stories, limit=30)[0] == [f"s{i}" for i in range(8)]
    assert arrange(stories, limit=30, sections=False)[0] == [f"s{i}" for i in range(8)]


def test_two_stories_about_one_event_never_stand_on_a_page():
    twin = placed("b", "world", 0, tilt=0.3)
    ids, repeats = arrange([placed("a", "world", 0), twin, placed("c", "world", 5)], limit=10)
    assert ids == ["a", "c"]
    assert repeats == {"b": "a"}


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", ""]), st.integers(0, 40)), max_size=40), st.integers(1, 30))
def test_limits_hold_whatever_comes(rows, limit):
    stories = [placed(f"s{i}", section, axis) for i, (section, axis) in enumerate(rows)]
    by_id = {story.story_id: story for story in stories}
    ids, repeats = arrange(stories, limit=limit)
    assert len(ids) == len(set(ids)) <= limit
    assert not set(ids) & set(repeats)
    shown = [by_id[id] for id in ids]
    for i, one in enumerate(shown):
        for other in shown[i + 1 :]:
            assert float(one.vector @ other.vector) <= 0.85
    others = {s.story_id for s in stories if s.section in ("", "d")} - set(repeats)
    for section in ("a", "b", "c"):
        in_head = sum(story.section == section for story in shown[:10])
        if in_head > 3:  # only when nothing else was left to show
            assert all(id in ids for id in others)


def test_mmr_prefers_a_new_angle_over_a_repeat_and_obeys_the_hard_limit():
    relevance = {"a": 1.0, "a2": 0.99, "b": 0.8}
    alike = {frozenset(("a", "a2")): 0.95}
    picked = mmr(
        ["a", "a2", "b"], relevance=lambda x: relevance[x], count=2,
        similarity=lambda x, y: alike.get(frozenset((x, y)), 0.0),
    )  # fmt: skip
    assert picked == ["a", "b"]
    only = mmr(
        ["a", "a2"], relevance=lambda x: relevance[x], count=2, similarity=lambda x, y: 0.0, allowed=lambda x, p: not p
    )
    assert only == ["a"]
