"""The merge law: wherever the watermark falls, merged profile and counters equal one pass over all events."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontpage.contracts import profiles as rows
from frontpage.domain.merge import CountEvent, Counts, by_story, merge, merge_counts
from frontpage.domain.profile import (
    EMPTY,
    HALF_LIFE,
    Profile,
    ProfileEvent,
    Register,
    SlowProfile,
    default_projection,
    fold,
    project,
)

NOW = 1_790_000_000.0
STREAMS = [("reader.clicks", 0), ("reader.clicks", 1), ("reader.events", 0), ("reader.events", 1)]
KINDS = ["click", "read", "dwell", "follow", "unfollow", "hide", "unhide"]
ids = st.sampled_from(["a", "b", "c", "d"])


@st.composite
def logs(draw, kinds=KINDS, repeats=True):
    """A list of events per stream; the same event id may stand twice in a stream's log (a client that repeats)."""
    events = []
    for topic, partition in STREAMS:
        for offset in range(draw(st.integers(0, 12))):
            kind = draw(st.sampled_from(kinds))
            number = draw(st.integers(0, 30)) if repeats else offset
            seed = zlib.crc32(f"{topic}/{partition}/{number}".encode())
            generator = np.random.default_rng(seed)
            pick = lambda n: tuple(generator.choice(["a", "b", "c", "d"], n, replace=False).tolist())  # noqa: B023, E731
            events.append(
                ProfileEvent(
                    topic, partition, offset, kind, NOW - float(generator.uniform(0, 90 * 86_400)),
                    f"{topic}{partition}{kind}{number}", f"art{number}", f"story{number % 5}", "pub" + pick(1)[0], pick(2),
                    pick(1), pick(1), {"p@1": generator.standard_normal(64).astype(np.float32)},
                    float(generator.uniform(0, 90)), "topic" if kind.endswith("follow") else "source", pick(1)[0],
                )
            )  # fmt: skip
    return events


watermarks = st.fixed_dictionaries({f"{t}/{p}": st.integers(0, 14) for t, p in STREAMS})


def assert_same(left: Profile, right: Profile) -> None:
    assert left.engagements == right.engagements
    assert left.recent == right.recent
    assert left.registers == right.registers
    assert left.deleted_at == right.deleted_at
    assert left.total == pytest.approx(right.total)
    for kind in {*left.affinities, *right.affinities}:
        assert dict(left.affinities.get(kind, {})) == pytest.approx(dict(right.affinities.get(kind, {})))
    assert left.vectors.keys() == right.vectors.keys()
    for version, summed in left.vectors.items():
        np.testing.assert_allclose(summed, right.vectors[version], atol=1e-6)


@given(logs(), watermarks, st.randoms(use_true_random=False), st.floats(-40 * 86_400, 2 * 86_400))
@settings(max_examples=150, deadline=None)
def test_merge_equals_one_pass_wherever_the_watermark_falls(events, watermark, random, lag):
    covered = [e for e in events if e.covered_by(watermark)]
    random.shuffle(covered)
    slow = SlowProfile("r", fold(covered, NOW + lag), watermark, NOW + lag)
    fast = list(events)  # the speed layer may still hold what the batch has covered
    random.shuffle(fast)
    assert_same(merge(slow, fast, reference=NOW), fold(events, NOW))


@given(logs(), watermarks)
@settings(max_examples=50, deadline=None)
def test_the_law_survives_storage(events, watermark):
    """Through JSON both ways: sums are float64 text, vectors float32."""
    slow = SlowProfile("r", fold([e for e in events if e.covered_by(watermark)], NOW), watermark, NOW)
    stored = rows.slow_from_json(rows.slow_to_json(slow))
    fast = [rows.event_from_json(rows.event_to_json(e)) for e in events]
    merged, whole = merge(stored, fast), fold(events, NOW)
    assert merged.recent == whole.recent
    assert merged.registers == whole.registers
    assert merged.total == pytest.approx(whole.total)
    for version, summed in whole.vectors.items():
        np.testing.assert_allclose(merged.vectors[version], summed, atol=1e-5)


@given(logs(), watermarks)
@settings(max_examples=50, deadline=None)
def test_merging_twice_changes_nothing(events, watermark):
    slow = SlowProfile("r", fold([e for e in events if e.covered_by(watermark)], NOW), watermark, NOW)
    assert_same(merge(slow, [*events, *events]), merge(slow, events))


@given(logs(), st.integers(0, 89))
@settings(max_examples=50, deadline=None)
def test_a_delete_erases_what_came_before_in_both_layers(events, days):
    """Events in time order per log, watermark at the delete: nothing from before it is left."""
    gone = NOW - days * 86_400.0
    delete = ProfileEvent("reader.events", 0, 10_000, "delete", gone, "del")
    before = [e for e in events if e.at <= gone]
    after = [e for e in events if e.at > gone]
    slow = SlowProfile("r", fold(before, NOW), {f"{t}/{p}": 5 for t, p in STREAMS}, NOW)
    moved = [ProfileEvent(e.topic, e.partition, 100 + i, *_rest(e)) for i, e in enumerate(after)]
    assert_same(merge(slow, [delete, *moved]), fold([delete, *moved], NOW))


def _rest(e: ProfileEvent):
    return (
        e.kind, e.at, e.event_id, e.article_id, e.story_id, e.publisher_id, e.topics, e.entities, e.sections,
        e.vectors, e.dwell_seconds, e.target_kind, e.target_id,
    )  # fmt: skip


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), ids), max_size=60, unique_by=lambda r: r[:2]),
    st.dictionaries(st.sampled_from([f"reader.clicks/{p}" for p in range(4)]), st.integers(0, 42)),
)
def test_merged_counters_equal_one_pass(records, watermark):
    # a click's partition is its article's; the same click may stand there twice
    events = [CountEvent("reader.clicks", p, o, f"{p}-{o % 17}", "abcd"[p]) for p, o, _ in records]
    covered = [e for e in events if e.offset < watermark.get(f"{e.topic}/{e.partition}", 0)]
    batch = Counts(merge_counts(Counts(), covered).by_article, watermark)
    merged = merge_counts(batch, [*events, *events])
    assert merged.by_article == merge_counts(Counts(), events).by_article
    assert sum(by_story(merged, lambda a: "s" if a in "ab" else None).values()) == sum(
        1 for _ in {e.event_id for e in events if e.article_id in "ab"}
    )


def test_a_click_repeated_across_the_watermark_counts_once():
    first, again = (CountEvent("reader.clicks", 0, offset, "click", "a") for offset in (3, 9))
    batch = Counts({"a": 1}, {"reader.clicks/0": 5})
    merged = merge_counts(batch, [again, first])
    assert (merged.by_article, merged.watermark) == ({"a": 1}, {"reader.clicks/0": 10})


@given(logs(), watermarks)
@settings(max_examples=100, deadline=None)
def test_events_repeated_across_the_watermark_count_once_however_long_ago(events, watermark):
    """The slow profile lists a reader's last engagements only; what the speed layer holds tells of the others."""
    covered = [e for e in events if e.covered_by(watermark)]
    whole = fold(covered, NOW)
    short = Profile(**{**{name: getattr(whole, name) for name in Profile.__slots__}, "recent": whole.recent[:1]})
    merged = merge(SlowProfile("r", short, watermark, NOW), events, reference=NOW)
    assert merged.engagements == fold(events, NOW).engagements
    assert merged.total == pytest.approx(fold(events, NOW).total)


def test_what_was_erased_counts_when_it_is_done_again():
    def click(offset: int, at: float) -> ProfileEvent:
        return ProfileEvent("reader.clicks", 0, offset, "click", at, "same", topics=("x",))

    delete = ProfileEvent("reader.events", 0, 7, "delete", NOW - 50, "del")
    slow = SlowProfile("r", fold([click(1, NOW - 100)], NOW), {"reader.clicks/0": 5}, NOW)
    assert merge(slow, [click(1, NOW - 100), delete, click(8, NOW - 10)], reference=NOW).engagements == 1


def test_explicit_follow_written_through_wins_until_a_later_event():
    key = ("follow", "topic", "health")
    unfollow = ProfileEvent("reader.events", 0, 5, "unfollow", 20.0, "e", target_kind="topic", target_id="health")
    assert merge(None, [], {key: Register(10.0, "x", True)}).switched_on("follow", "topic") == {"health"}
    assert merge(None, [unfollow], {key: Register(10.0, "x", True)}).switched_on("follow", "topic") == frozenset()
    field, value = rows.register_to_field(key, Register(30.0, "y", True))
    stored = rows.registers_from_hash({field.encode(): value.encode(), b"alpha": b"0.7"})
    assert merge(None, [unfollow], stored).switched_on("follow", "topic") == {"health"}


def test_an_engagement_weighs_half_after_the_half_life():
    old = ProfileEvent("reader.clicks", 0, 0, "click", NOW - HALF_LIFE, "old", topics=("x",))
    new = ProfileEvent("reader.clicks", 0, 1, "click", NOW, "new", topics=("y",))
    profile = fold([new, old], NOW)
    assert profile.affinities["topic"] == pytest.approx({"x": 0.5, "y": 1.0})
    assert profile.affinity("topic", ("y",), NOW) > profile.affinity("topic", ("x",), NOW)
    assert EMPTY.affinity("topic", ("y",), NOW) == 0.0


def test_the_default_projection_is_the_same_everywhere_and_keeps_cosines():
    matrix = default_projection("enc@1", 384)
    assert matrix.shape == (384, 64)
    np.testing.assert_array_equal(matrix, default_projection("enc@1", 384))
    assert not np.array_equal(matrix, default_projection("enc@2", 384))
    generator = np.random.default_rng(1)
    vectors = generator.standard_normal((200, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    small = project(vectors, matrix)
    errors = (small @ small.T - vectors @ vectors.T)[np.triu_indices(200, 1)]
    assert np.std(errors) < 0.15
    np.testing.assert_allclose(np.linalg.norm(small, axis=1), 1.0, atol=1e-5)
