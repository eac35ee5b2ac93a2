"""The merge stage of trends: sums the partitions' partials, rolls them up, tells who is hot and who spikes.

One process, so one sum. Output: `trends.hot` and the Redis row `trends:{edition}` per edition and for "*" (all); for a
publisher at 20 times its baseline, `poll.requests` that boost its feeds for an hour (once an hour per publisher).
Cutting each partition at its best 1,000 can miss an article that is moderately hot everywhere; for ranking that is
acceptable (documents). Run: `python -m streaming.trends.merge`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import Final

import redis

from frontpage.adapters.bus import Bus, Outgoing, Record
from frontpage.adapters.clock import Clock
from frontpage.adapters.loop import decoded, run_transactional
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.events import PollRequest
from frontpage.contracts.rank_events import TrendHot, TrendPartial
from frontpage.contracts.topics import POLL_REQUESTS, TRENDS_HOT, TRENDS_PARTIALS
from frontpage.contracts.views import TRENDS
from frontpage.domain.ids import digest
from frontpage.domain.trends import Baseline, hottest, roll_up, spike
from frontpage.errors import UnreadableEvent
from frontpage.runtime import Runtime, run_process
from streaming.trends.feeds import FeedIndex

log = logging.getLogger(__name__)

PROCESS: Final = "trends.merge"
GROUP: Final = "trends-merge"
#: Virtual seconds. A partition that has been silent for longer than the long window has nothing to add.
STALE: Final = 900.0
#: Virtual seconds of closer polling after a spike (documents: "every minute for the next hour").
BOOST: Final = 3600.0
ALL: Final = "*"


class MergeWork:
    """`Work` of the loop: the last partial of each partition, and each publisher's baseline."""

    def __init__(self, store: redis.Redis, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._feeds = FeedIndex(store)
        self._partials: dict[int, TrendPartial] = {}
        self._shown: set[str] = set()
        self._baselines: dict[str, Baseline] = {}
        self._boosted: dict[str, float] = {}
        self.merged = 0

    def restore(self, events: Iterable[TrendHot]) -> None:
        """Learn baselines from what was published in the last day."""
        for event in events:
            if event.edition == ALL:
                self._learn(event)

    def handle(self, records: list[Record]) -> list[Outgoing]:
        """Merge a batch of partials into one set of trends."""
        before = dict(self._partials)
        try:
            return self._merged(records)
        except Exception:
            self._partials = before  # one that cannot be summed must not stay among the others
            raise

    def _merged(self, records: list[Record]) -> list[Outgoing]:
        now = self._clock.now()
        good, out = decoded(records, TrendPartial, PROCESS, now)
        for _, partial in good:
            known = self._partials.get(partial.partition)
            # one from the future is of before a replay set the clock back: it must not outlive that
            if known is None or partial.window_end >= known.window_end - STALE or known.window_end > now + STALE:
                self._partials[partial.partition] = partial
        if not good:
            return out
        end = max(partial.window_end for _, partial in good)
        fresh = [partial for partial in self._partials.values() if end - partial.window_end <= STALE]
        stories, publishers = roll_up(row for partial in fresh for row in partial.rows)
        hot = [
            TrendHot(
                edition=edition, window_end=end, stories=hottest(stories.get(edition, {})),
                publishers=hottest(publishers.get(edition, {})),
            )
            for edition in sorted(stories.keys() | self._shown | {ALL})
        ]  # fmt: skip
        self._show(hot)
        self._shown = set(stories)
        self.merged += 1
        out += [Outgoing(TRENDS_HOT.name, str(int(end)), event.encode()) for event in hot]
        out += self._spikes({id: minute for id, (minute, _) in publishers.get(ALL, {}).items()}, end)
        for event in hot:
            if event.edition == ALL:
                self._learn(event)
        return out

    def _show(self, hot: list[TrendHot]) -> None:
        with store_errors():
            pipe = self._store.pipeline(transaction=True)
            for event in hot:
                pipe.set(TRENDS.key(edition=event.edition), event.encode(), ex=TRENDS.ttl)
            pipe.execute()

    def _spikes(self, minutes: dict[str, int], now: float) -> list[Outgoing]:
        out: list[Outgoing] = []
        for publisher, minute in sorted(minutes.items()):
            if self._boosted.get(publisher, float("-inf")) > now or not spike(
                minute, self._baselines.get(publisher, Baseline())
            ):
                continue
            self._boosted[publisher] = now + BOOST
            feeds = self._feeds.feeds().get(publisher, [])
            log.info("publisher %s spikes: %d clicks in a minute, %d feeds", publisher, minute, len(feeds))
            for feed in feeds:
                request = PollRequest(
                    request_id=digest(f"spike|{publisher}|{feed}|{int(now)}"),
                    feed_id=feed,
                    why=f"clicks on {publisher} spiked",
                    boost_until=now + BOOST,
                    at=now,
                )
                out.append(Outgoing(POLL_REQUESTS.name, feed, request.encode()))
        return out

    def _learn(self, event: TrendHot) -> None:
        """`velocity` is clicks per minute. A publisher that is not among the hot ones has rate 0."""
        rates = {publisher: rate for publisher, rate, _ in event.publishers}
        for publisher in self._baselines.keys() | rates.keys():
            known = self._baselines.get(publisher, Baseline())
            self._baselines[publisher] = known.observe(rates.get(publisher, 0.0), event.window_end)


def history(bus: Bus) -> Iterable[TrendHot]:
    """What `trends.hot` keeps, in order."""
    for partition, end in bus.end_offsets(TRENDS_HOT.name).items():
        for record in bus.read(TRENDS_HOT.name, partition, 0, end):
            try:
                event = TrendHot.decode(record.value)
            except UnreadableEvent:
                continue
            if event is not None:
                yield event


def main(runtime: Runtime, stop: threading.Event) -> None:
    """Runs until `stop` is set; the topic has one partition, so a second process stands by."""
    work = MergeWork(runtime.redis, runtime.clock)
    work.restore(history(runtime.bus))
    run_transactional(
        runtime.bus, process=PROCESS, group=GROUP, topics=[TRENDS_PARTIALS.name], transactional_id="trends-merge",
        work=work, clock=runtime.clock, stop=stop,
        idle=lambda: runtime.heartbeat(PROCESS, merged=work.merged),
    )  # fmt: skip


if __name__ == "__main__":
    run_process(PROCESS, main)
