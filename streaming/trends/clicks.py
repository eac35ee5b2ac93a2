"""What readers do, within seconds: click windows for trends, and each reader's fast profile.

Reads `reader.clicks` and `reader.events`. Counted clicks go into the 1- and 15-minute windows of their partition; every
10 virtual seconds each partition's best 1,000 go to `trends.partials`. Clicks, reads, dwell, follows and hides of
readers go to `profile:fast:{reader}` as events that carry their place in the log: writing one twice changes nothing,
and whoever reads a profile drops what the batch layer has covered. Redis is written before the offsets are committed.

A partition that is new to this process starts with the clicks of its last 15 minutes, read back from the log. A click
that comes twice in that time (a personal card opened again has the same id) is counted once.
Not here: summing partitions (`merge.py`). Run: `python -m streaming.trends.clicks [--instance N]`.
"""

from __future__ import annotations

import argparse
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, cast

import redis

from frontpage.adapters.bus import Bus, Outgoing, Record
from frontpage.adapters.clock import Clock
from frontpage.adapters.loop import dead_letter, fault_of, run_transactional
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.profiles import event_to_json
from frontpage.contracts.rank_events import TrendPartial
from frontpage.contracts.reader_events import Click, ReaderEvent
from frontpage.contracts.topics import READER_CLICKS, READER_EVENTS, TRENDS_PARTIALS
from frontpage.contracts.views import PROFILE_FAST
from frontpage.domain.profile import EventKind, ProfileEvent
from frontpage.domain.trends import QUARTER_SLOTS, SLOT, ClickWindows, window_end
from frontpage.runtime import Runtime, run_process
from streaming.rank.batch_views import BatchViews
from streaming.trends.articles import ArticleFacts

log = logging.getLogger(__name__)

PROCESS: Final = "trends.clicks"
GROUP: Final = "trends"
#: How far back a new partition is read: 15 minutes at 60 clicks a second.
WARM: Final = 50_000
#: Events kept per reader; the slow profile covers all but the last hour's, so this is far above need.
FAST_LIMIT: Final = 2000
#: Real seconds between partials at least, whatever the replay's speed.
SHORTEST_STEP: Final = 1.0
_PROFILE_KINDS: Final = frozenset({"read", "dwell", "follow", "unfollow", "hide", "unhide", "delete"})

#: (article, story, publisher, edition): what a partial's row is about.
ClickKey = tuple[str, str, str, str]


class ClickWork:
    """`Work` of the loop, and its timer."""

    def __init__(self, bus: Bus, store: redis.Redis, clock: Clock) -> None:
        self._bus, self._store, self._clock = bus, store, clock
        self._articles = ArticleFacts(bus)
        self._batch = BatchViews(store)
        self._windows: dict[int, ClickWindows[ClickKey]] = {}
        self._ids: dict[int, OrderedDict[str, float]] = {}
        self._next: dict[int, int] = {}
        self._emitted_at = float("-inf")
        self._emitted_end = float("-inf")
        self._busy: set[int] = set()
        self.clicks = 0

    def handle(self, records: list[Record]) -> list[Outgoing]:
        """Count and fold a batch; returns dead letters only."""
        now = self._clock.now()
        dead: list[Outgoing] = []
        profile: dict[str, list[ProfileEvent]] = {}
        self._articles.catch_up()
        self._batch.load()
        for record in records:
            try:
                if record.topic == READER_CLICKS.name:
                    click = Click.decode(record.value)
                    self._warm(record, now)
                    if click is not None and click.counted:
                        self._count(record.partition, click, now)
                        if click.reader:
                            profile.setdefault(click.reader, []).append(self._event(record, click))
                else:
                    event = ReaderEvent.decode(record.value)
                    if event is not None and event.reader and event.kind in _PROFILE_KINDS:
                        profile.setdefault(event.reader, []).append(self._event(record, event))
            except Exception as error:  # noqa: BLE001 - `fault_of` raises what is not the record's fault
                dead.append(dead_letter(record, fault_of(record, error), PROCESS, now))
        self._fold(profile)
        return dead

    def rollback(self) -> None:
        """A batch was dropped: windows that counted it are read back from the log when it comes again."""
        self._windows.clear()
        self._next.clear()

    def partials(self) -> Sequence[Outgoing]:
        """One partial per partition when a 10-second slot has ended, else nothing."""
        now, real = self._clock.now(), time.monotonic()
        end = window_end(now)
        if end == self._emitted_end or real - self._emitted_at < SHORTEST_STEP:
            return []
        self._emitted_at, self._emitted_end = real, end
        out = []
        for partition, windows in self._windows.items():
            rows = [(*key, minute, quarter) for key, minute, quarter in windows.top(now)]
            if rows or partition in self._busy:  # one empty partial says that it is over
                partial = TrendPartial(partition=partition, window_end=end, rows=rows)
                out.append(Outgoing(TRENDS_PARTIALS.name, str(int(end)), partial.encode()))
            (self._busy.add if rows else self._busy.discard)(partition)
        return out

    def close(self) -> None:
        """Stop reading articles."""
        self._articles.close()

    def _warm(self, record: Record, now: float) -> None:
        """Make the windows of a partition that is new here, or that went back, from the log before `record`."""
        partition = record.partition
        if partition not in self._windows or record.offset < self._next.get(partition, 0):
            self._windows[partition], self._ids[partition] = ClickWindows(), OrderedDict()
            for old in self._bus.read(READER_CLICKS.name, partition, max(0, record.offset - WARM), record.offset):
                try:
                    click = Click.decode(old.value)
                    if click is not None and click.counted:
                        self._add(partition, click, now)
                except Exception as error:  # noqa: BLE001 - dead-lettered when it was first read
                    fault_of(old, error)
        self._next[partition] = record.offset + 1

    def _count(self, partition: int, click: Click, now: float) -> None:
        self.clicks += self._add(partition, click, now)

    def _add(self, partition: int, click: Click, now: float) -> bool:
        """Into the windows; False when the click is there. Ids are kept as long as the longer window, in log order."""
        ids = self._ids[partition]
        if click.click_id in ids:
            return False
        self._windows[partition].add(_key(click), click.at, now)
        ids[click.click_id] = now
        while ids and not 0 <= now - next(iter(ids.values())) <= QUARTER_SLOTS * SLOT:
            ids.popitem(last=False)
        return True

    def _event(self, record: Record, source: Click | ReaderEvent) -> ProfileEvent:
        kind: EventKind = "click" if isinstance(source, Click) else cast("EventKind", source.kind)
        act = source if isinstance(source, ReaderEvent) else None
        facts = self._articles.get(source.article_id) if source.article_id else None
        vector = self._batch.project(facts.encoder, facts.vector) if facts is not None else None
        return ProfileEvent(
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            kind=kind,
            at=source.at,
            event_id=source.click_id if isinstance(source, Click) else source.event_id,
            article_id=source.article_id,
            story_id=source.story_id,
            publisher_id=source.publisher_id,
            topics=facts.topics if facts is not None else (),
            entities=facts.entities if facts is not None else (),
            sections=facts.sections if facts is not None else (),
            vectors={vector.version: vector.unpack()} if vector is not None else {},
            dwell_seconds=act.dwell_seconds if act is not None else None,
            target_kind=act.target_kind if act is not None else "",
            target_id=act.target_id if act is not None else "",
        )

    def _fold(self, profile: dict[str, list[ProfileEvent]]) -> None:
        """Idempotent: a member is the event with its place in the log."""
        if not profile:
            return
        with store_errors():
            pipe = self._store.pipeline(transaction=True)
            for reader, events in profile.items():
                key = PROFILE_FAST.key(reader=reader)
                erased = max((event.at for event in events if event.kind == "delete"), default=None)
                if erased is not None:
                    pipe.zremrangebyscore(key, "-inf", erased)
                kept = [event for event in events if erased is None or event.at >= erased]
                pipe.zadd(key, {event_to_json(event): event.at for event in kept})
                pipe.zremrangebyrank(key, 0, -FAST_LIMIT - 1)
                pipe.expire(key, PROFILE_FAST.ttl or 0)
            pipe.execute()


def _key(click: Click) -> ClickKey:
    return (click.article_id, click.story_id, click.publisher_id, click.edition)


def main(runtime: Runtime, stop: threading.Event, instance: int = 0) -> None:
    """Runs until `stop` is set. Several may run, each under its own `instance`."""
    work = ClickWork(runtime.bus, runtime.redis, runtime.clock)

    def idle() -> Sequence[Outgoing]:
        runtime.heartbeat(PROCESS, clicks=work.clicks)
        return work.partials()

    try:
        run_transactional(
            runtime.bus, process=PROCESS, group=GROUP, topics=[READER_CLICKS.name, READER_EVENTS.name],
            transactional_id=f"trends-{instance}", work=work, clock=runtime.clock, stop=stop, idle=idle,
            rollback=work.rollback,
        )  # fmt: skip
    finally:
        work.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Click windows and fast profiles.")
    parser.add_argument("--instance", type=int, default=0, help="number of this process among several, from 0")
    number = parser.parse_args().instance
    run_process(PROCESS, lambda runtime, stop: main(runtime, stop, number))
