"""Links across languages: every few minutes, which stories report one event in different languages (`story.links`).

A cycle takes in `story.changes`, compares stories that changed, and announces each new pair once: its id is that of the
pair, and what has been announced is read back from the topic at the start. A burst (`alerts.breaking`) asks for closer
polling of the publishers of the linked stories; so does a link found while its story is breaking. Alerts' offsets,
links and requests commit together. One process works at a time (lease and transactional id `links`); a second one
started the same way stands by.

Not here: the rule (`frontpage/domain/links.py`), rows of linked stories (`link_rows.py`, in the store's process).
Run: `python -m streaming.cluster.links`.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, TypeVar

from frontpage.adapters.bus import Bus, Outgoing, Record
from frontpage.adapters.clock import real_left
from frontpage.adapters.encoder import Encoder, UseEncoder
from frontpage.adapters.lease import HeldLease
from frontpage.adapters.loop import FIRST_BACKOFF, LONGEST_BACKOFF, decoded
from frontpage.contracts.envelope import Event
from frontpage.contracts.events import PollRequest, StoryLink
from frontpage.contracts.rank_events import BreakingAlert
from frontpage.contracts.topics import ALERTS_BREAKING, POLL_REQUESTS, STORY_CHANGES, STORY_LINKS
from frontpage.domain.ids import digest
from frontpage.domain.languages import LANGUAGE_PARTITIONS
from frontpage.domain.links import Link
from frontpage.errors import Fenced, ServiceUnavailable, UnreadableEvent
from frontpage.runtime import Runtime, run_process
from streaming.cluster.link_state import LinkFinder
from streaming.trends.feeds import FeedIndex

if TYPE_CHECKING:
    import redis

E = TypeVar("E", bound=Event)

log = logging.getLogger(__name__)

PROCESS: Final = "cluster.links"
#: Virtual seconds between cycles (documents: "a job every few minutes").
EVERY: Final = 180.0
#: Real seconds between cycles at least, whatever the replay's speed, and while stories wait from the last one.
SHORTEST_CYCLE: Final = 5.0
#: Real seconds between looks for a burst.
LOOK: Final = 1.0
#: Virtual seconds of closer polling, and feeds per linked story: as for the burst itself (`rank/breaking.py`).
BOOST: Final = 3600.0
BOOSTED: Final = 50


class Linker:
    """One tenure's work: `cycle` finds links, `bursts` follows alerts; each commits what it made."""

    def __init__(self, bus: Bus, store: redis.Redis, encoder: Encoder) -> None:
        # The producer first: it ends what a predecessor left undecided, so that the topic read below is complete.
        self._producer = bus.transactional("links")
        self._changes = bus.consumer("links-state", [STORY_CHANGES.name], partitions=range(LANGUAGE_PARTITIONS))
        self._alerts = bus.consumer("links", [ALERTS_BREAKING.name], partitions=range(ALERTS_BREAKING.partitions))
        self._feeds = FeedIndex(store)
        self._breaking: dict[str, float] = {}
        self.finder = LinkFinder(encoder)
        for link in _events(bus, STORY_LINKS.name, StoryLink):
            self.finder.announced(link)
        for alert in _events(bus, ALERTS_BREAKING.name, BreakingAlert):
            self._breaking[alert.story_id] = max(alert.at, self._breaking.get(alert.story_id, alert.at))

    def close(self) -> None:
        """Stop reading and writing."""
        self._changes.close()
        self._alerts.close()
        self._producer.close()

    def catch_up(self, check: Callable[[], None] = lambda: None) -> None:
        """Take in all changes that are there; `check` may raise between batches."""
        while records := self._changes.poll(2000, 0.3):
            self.finder.absorb(records)
            check()

    def cycle(self, now: float, check: Callable[[], None] = lambda: None) -> list[StoryLink]:
        """Find and announce links; returns them."""
        self.catch_up(check)
        links = [self._record(link, now) for link in self.finder.cycle(now)]
        if links:
            self._breaking = {id: at for id, at in self._breaking.items() if abs(now - at) <= BOOST}
            out = [Outgoing(STORY_LINKS.name, link.left, link.encode()) for link in links]
            for link in links:
                for one, other in ((link.left, link.right), (link.right, link.left)):
                    out += [r for id, at in self._breaking.items() if self.finder.resolve(id) == one
                            for r in self._boosts(id, [other], at, now)]  # fmt: skip
            check()
            self._producer.transact(out, None)
            for link in links:
                self.finder.announced(link)
        return links

    def bursts(self, now: float, check: Callable[[], None] = lambda: None) -> int:
        """Ask for closer polling where linked stories are covered; returns the number of requests."""
        records: list[Record] = self._alerts.poll(200, 0.05)
        if not records:
            return 0
        self.catch_up(check)  # a merge that the alert already knows
        alerts, out = decoded(records, BreakingAlert, PROCESS, now)
        for _, alert in alerts:
            known = self._breaking.setdefault(alert.story_id, alert.at)
            self._breaking[alert.story_id] = max(known, alert.at)
            if abs(now - alert.at) <= BOOST:
                out += self._boosts(alert.story_id, self.finder.linked(alert.story_id), alert.at, now)
        check()
        self._producer.transact(out, self._alerts)
        return len(out)

    def _record(self, link: Link, now: float) -> StoryLink:
        sides = self.finder.index.sides
        return StoryLink(
            link_id=link.link_id, left=link.left, left_language=sides[link.left].language, right=link.right,
            right_language=sides[link.right].language, score=round(link.score, 4), at=now,
        )  # fmt: skip

    def _boosts(self, story: str, linked: Iterable[str], at: float, now: float) -> list[Outgoing]:
        """Requests for the feeds of the publishers that cover the stories `linked` to the breaking `story`."""
        feeds = self._feeds.feeds()
        requests = [
            PollRequest(
                request_id=digest(f"linked|{story}|{other}|{feed}"), feed_id=feed,
                why=f"burst of story {story}, linked to {other}", boost_until=at + BOOST, at=now,
            )
            for other in linked
            for feed in [f for p in sorted(self.finder.publishers(other)) for f in feeds.get(p, ())][:BOOSTED]
        ]  # fmt: skip
        return [Outgoing(POLL_REQUESTS.name, request.feed_id, request.encode()) for request in requests]


def _events(bus: Bus, topic: str, kind: type[E]) -> Iterable[E]:
    """Readable events of a topic from its beginning; the bronze table keeps the causes of the others."""
    for partition, end in bus.end_offsets(topic).items():
        for record in bus.read(topic, partition, 0, end):
            try:
                event = kind.decode(record.value)
            except UnreadableEvent as error:
                log.error("%s/%d@%d: %s", topic, partition, record.offset, error)
                continue
            if event is not None:
                yield event


def tenure(runtime: Runtime, encoder: Encoder, check: Callable[[], None], stop: threading.Event) -> None:
    """Link until `stop`; raises Fenced or ServiceUnavailable."""
    linker = Linker(runtime.bus, runtime.redis, encoder)
    try:
        while not stop.is_set():
            check()
            started, as_of = time.monotonic(), runtime.clock.now()
            found = linker.cycle(as_of, check)
            facts = {
                "stories": len(linker.finder.index.sides), "waiting": linker.finder.waiting, "new": len(found),
                "links": linker.finder.links, "seconds": round(time.monotonic() - started, 3),
            }  # fmt: skip
            while not stop.is_set():
                runtime.heartbeat(PROCESS, **facts)
                check()
                linker.bursts(runtime.clock.now(), check)
                pause = 0.0 if linker.finder.waiting else real_left(runtime.clock, as_of, EVERY)
                left = max(started + SHORTEST_CYCLE - time.monotonic(), pause)
                if stop.wait(min(max(left, 0.0), LOOK)) or left <= LOOK:
                    break
    finally:
        linker.close()


def main(runtime: Runtime, stop: threading.Event, encoder: Encoder | None = None) -> None:
    """Take the lease, link, start over after failures; ends when `stop` is set."""
    encoder = encoder or UseEncoder()
    lease = HeldLease(runtime.redis, "links", f"{socket.gethostname()}:{os.getpid()}")
    backoff = FIRST_BACKOFF
    while lease.wait(stop, lambda: runtime.heartbeat(PROCESS, state="standing by")):
        try:
            tenure(runtime, encoder, lease.check, stop)
            backoff = FIRST_BACKOFF
        except (Fenced, ServiceUnavailable) as error:
            log.warning("starting over in %.1f s: %s", backoff, error)
            stop.wait(backoff)
            backoff = min(backoff * 2, LONGEST_BACKOFF)
        finally:
            lease.release()


if __name__ == "__main__":
    run_process(PROCESS, main)
