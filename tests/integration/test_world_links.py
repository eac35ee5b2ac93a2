"""The sample world's events in several languages, linked by the real encoder at the shipped bars: all of them, only they."""

from __future__ import annotations

from benchmarks.links import sample_world
from frontpage.adapters.encoder import UseEncoder
from frontpage.domain.links import LinkPolicy


def test_the_worlds_shared_events_are_linked_and_look_alikes_are_not() -> None:
    figures = sample_world(UseEncoder(), LinkPolicy())
    assert figures["world_pairs"] >= 6  # the calm event and the burst, three languages each
    assert figures["world_recall"] == 1
    assert figures["world_precision"] == 1
