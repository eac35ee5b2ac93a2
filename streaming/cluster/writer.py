"""The story writer: the only process that decides, for a language partition, which story an article belongs to.

One thread per partition holds the partition's lease, opens the transactional producer `cluster-{partition}` (which
fences any earlier holder), rebuilds its stories from `story.changes`, and then decides article by article. Decisions
and input offsets commit together. Whatever goes wrong, the tenure ends and the next one starts from the log again:
that is slower than undoing, and it cannot be wrong. A second process started the same way is a warm standby.

Not here: how decisions are made (`frontpage/domain/clustering.py`), how a book is rebuilt (`rebuild.py`) and saved
(`snapshots.py`), rows for readers (`store.py`).
Run: `python -m streaming.cluster.writer [--partitions 0,3]` (all by default).
"""

from __future__ import annotations

import argparse
import functools
import itertools
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from frontpage.adapters.bus import Bus, Consumer, Outgoing, Record
from frontpage.adapters.clock import Clock
from frontpage.adapters.lease import HeldLease
from frontpage.adapters.loop import FIRST_BACKOFF, LONGEST_BACKOFF, dead_letter
from frontpage.adapters.term_store import TermStore
from frontpage.contracts.events import ArticleEvent, StoryChange, StoryProposal
from frontpage.contracts.review_events import StoryReview
from frontpage.contracts.review_events import from_event as from_review
from frontpage.contracts.review_events import to_event as review_event
from frontpage.contracts.story_codec import article_signals, to_event, to_proposal
from frontpage.contracts.topics import ARTICLES, STORY_CHANGES, STORY_PROPOSALS, STORY_REVIEWS
from frontpage.domain.clustering import Clusterer, Policies
from frontpage.domain.languages import LANGUAGE_PARTITIONS, PARTITION_OF
from frontpage.domain.reviews import Review
from frontpage.domain.story import Change, StoryBook
from frontpage.errors import Fenced, ServiceUnavailable, UnreadableEvent
from frontpage.runtime import Runtime, lake_of, run_process
from streaming.cluster import snapshots
from streaming.cluster.front import FrontPages
from streaming.cluster.rebuild import Archive, Follower, Minds, archive_of
from streaming.cluster.snapshots import Snapshots

log = logging.getLogger(__name__)

PROCESS: Final = "cluster.writer"
GROUP: Final = "cluster"
#: Virtual seconds. Stories are kept while they have an article of the last 48 hours (documents).
WINDOW: Final = 48 * 3600.0
#: Virtual seconds between looks for stories that left the window: a story may overstay by so much.
EXPIRE_EVERY: Final = 300.0
#: Articles per transaction: about 0.2 s of decisions, so that a lease check comes well within a renewal.
BATCH: Final = 200
#: Real seconds that an idle poll waits; also how long a stop may take.
POLL: Final = 0.5
#: Repair of a partition rests so many times as long as it computed: in a replay at thousands of times it is always due,
#: and all partitions share the processors with the articles that wait.
REST: Final = 30.0

_INPUT: Final = (ARTICLES.name, STORY_PROPOSALS.name, STORY_REVIEWS.name)

#: The stories that stand on a front page now, each with the article that represents it.
Front = Callable[[], Mapping[str, str]]


def minds_with(policies: Policies) -> Minds:
    """Clusterers with `policies`, shipped ones or those of published term weights (`TermStore.policy`)."""
    return lambda book, partition: mind(book, partition, policies)


def mind(book: StoryBook, partition: int, policies: Policies) -> Clusterer:
    """The clusterer of a partition.

    The policies of the partition's languages are made at once: a model that is missing or damaged must stop the writer
    here, and not have every article dead-lettered for it.
    """
    clusterer = Clusterer(policies, book, partition=partition)
    for language in [name for name, number in PARTITION_OF.items() if number == partition] or ["und"]:
        clusterer.policy(language)
    return clusterer


class PartitionWriter:
    """One tenure's mind: the book of a partition, as the log says, and the decisions that extend it."""

    def __init__(
        self,
        partition: int,
        clusterer: Clusterer,
        *,
        repair_interval: float,
        poison: set[str],
        front: Front | None = None,
    ) -> None:
        self._partition = partition
        self._front = front
        self._repair_interval = repair_interval
        self._poison = poison
        self._repaired_at: float | None = None
        self._expired_at: float | None = None
        self.clusterer = clusterer
        self.book = clusterer.book

    def handle(self, records: Sequence[Record], now: float) -> list[Outgoing]:
        """Changes, merges held and dead letters for a batch, in order."""
        out: list[Outgoing] = []
        for record in records:
            before = self.book.sequence
            try:
                if _place(record) in self._poison:
                    raise UnreadableEvent("deciding on it failed, see the writer's log", cause="cannot-decide")
                out += self._decide(record, now)
            except UnreadableEvent as error:
                out.append(dead_letter(record, error, PROCESS, now))
            except (OSError, MemoryError) as error:  # not the record's fault
                raise ServiceUnavailable(f"{_place(record)}: {type(error).__name__}: {error}") from error
            except (ServiceUnavailable, Fenced):
                raise
            except Exception as error:  # a record must not stop its language for ever
                log.exception("%s: cannot decide on it", _place(record))
                self._poison.add(_place(record))
                if self.book.sequence != before:
                    raise ServiceUnavailable(f"{_place(record)} left the book half changed: rebuilding") from error
                failed = UnreadableEvent(f"{type(error).__name__}: {error}"[:200], cause="cannot-decide")
                out.append(dead_letter(record, failed, PROCESS, now))
        return out + self._held()

    def tick(self, now: float) -> list[Outgoing]:
        """What time alone brings: repair every ten minutes, expiry of stories that left the window."""
        changes: list[Change] = []
        if self._repaired_at is None:
            self._repaired_at = self._expired_at = now
        if _due(self._repaired_at, now, self._repair_interval):
            self._repaired_at = now
            self._look()
            changes += self.clusterer.repair(now, ("repair", self._partition, self.book.sequence + 1))
        if self._expired_at is not None and _due(self._expired_at, now, EXPIRE_EVERY):
            self._expired_at = now
            changes += self.clusterer.expire(now, ("expire", self._partition, self.book.sequence + 1))
        return [self._outgoing(to_event(change)) for change in changes] + self._held()

    def remember(self, records: Iterable[Record]) -> None:
        """Reviews of tenures before: what was held, and the decisions that were carried out."""
        for record in records:
            try:
                self._review(record)
            except UnreadableEvent as error:
                log.error("%s: %s", _place(record), error)

    def _review(self, record: Record) -> Review | None:
        """The review in a record, when it is the first decision on it."""
        event = StoryReview.decode(record.value)
        if event is None:
            return None
        if event.kind == "held":
            self.clusterer.reviews.hold(from_review(event))
            return None
        return self.clusterer.reviews.decide(event.review_id, event.kind)

    def _held(self) -> list[Outgoing]:
        events = [review_event(review) for review in self.clusterer.reviews.take_held()]
        return [Outgoing(STORY_REVIEWS.name, event.language, event.encode(), self._partition) for event in events]

    def _look(self) -> None:
        if self._front is not None:
            self.clusterer.reviews.front = self._front()

    def _decide(self, record: Record, now: float) -> list[Outgoing]:
        source = (record.topic, record.partition, record.offset)
        if record.topic == STORY_REVIEWS.name:
            decided = self._review(record)
            if decided is None or decided.decision != "accepted":
                return []
            changes = self.clusterer.carry_out(decided, now, source)
            return [self._outgoing(to_event(change)) for change in changes]
        if record.topic == STORY_PROPOSALS.name:
            proposal = StoryProposal.decode(record.value)
            if proposal is None:
                return []
            self._look()
            changes = self.clusterer.consider(to_proposal(proposal), now, source)
            return [self._outgoing(to_event(change)) for change in changes]
        event = ArticleEvent.decode(record.value)
        if event is None:
            return []
        card = event.card
        if card.version > 1 and card.first_seen_at < now - WINDOW and card.article_id not in self.book.story_of:
            return []  # a correction to an article whose story left the window starts no story
        if self.book.departed.get(card.article_id, float("inf")) <= now:
            return []  # nor does a repeat of one
        changes = self.clusterer.decide(article_signals(event), now, source, card)
        trace = {**event.trace, "clustered": now}
        return [self._outgoing(to_event(change, trace, event.signals.quality)) for change in changes]

    def _outgoing(self, change: StoryChange) -> Outgoing:
        return Outgoing(STORY_CHANGES.name, change.language, change.encode(), self._partition)


class Tenures:
    """Takes the lease of a partition, serves, and starts over after any failure until told to stop."""

    def __init__(
        self, bus: Bus, clock: Clock, partition: int, *, minds: Minds, repair_interval: float,
        beat: Callable[[int, StoryBook], None] | None = None, archive: Archive | None = None,
        snapshot_every: int = snapshots.EVERY, front: Front | None = None, terms: TermStore | None = None,
    ) -> None:  # fmt: skip
        self._bus, self._clock, self._partition = bus, clock, partition
        self._minds = minds
        self._repair_interval = repair_interval
        self._beat = beat
        self._archive = archive
        self._front = front
        self._terms = terms
        self._snapshot_every = snapshot_every
        self._poison: set[str] = set()

    def run(self, lease: HeldLease, stop: threading.Event) -> None:
        """Until `stop`. Losing the lease or the producer's id means standing by, not failing."""
        backoff = FIRST_BACKOFF
        while True:
            follower = Follower(self._bus, self._partition, self._archive, self._minds)
            if not lease.wait(stop, _from_the_second_on(functools.partial(self._stand_by, follower))):
                follower.close()
                return
            warm: Follower | None = follower
            try:
                while not stop.is_set():
                    lease.check()
                    try:
                        self.serve(lease.check, stop, warm)
                        backoff = FIRST_BACKOFF
                    except ServiceUnavailable as error:
                        warm = None
                        log.warning("partition %d: starting over in %.1f s: %s", self._partition, backoff, error)
                        stop.wait(backoff)
                        backoff = min(backoff * 2, LONGEST_BACKOFF)
            except Fenced as error:
                log.warning("partition %d: standing by: %s", self._partition, error)
                stop.wait(backoff)
            finally:
                lease.release()

    def _stand_by(self, follower: Follower) -> None:
        follower.stand_by()
        if self._terms is not None and follower.mind is not None:
            self._terms.refresh(follower.mind)

    def serve(self, check: Callable[[], None], stop: threading.Event, warm: Follower | None = None) -> None:
        """One tenure, from `warm` on when given: returns when `stop` is set; raises Fenced or ServiceUnavailable.

        The order matters: opening the producer ends whatever the predecessor left undecided, so that the log read
        afterwards is complete; and the consumer starts from offsets committed with that log.
        """
        producer = self._bus.transactional(f"cluster-{self._partition}")
        try:
            follower = warm or Follower(self._bus, self._partition, self._archive)
            book = follower.catch_up()
            follower.close()
            log.info("partition %d: %d stories at sequence %d", self._partition, len(book.stories), book.sequence)
            clusterer = follower.mind or self._minds(book, self._partition)
            writer = PartitionWriter(
                self._partition, clusterer, repair_interval=self._repair_interval,
                poison=self._poison, front=self._front,
            )  # fmt: skip
            saved = Snapshots(self._partition, book, *follower.snapshot, every=self._snapshot_every)
            consumer = self._bus.consumer(GROUP, _INPUT, partitions=[self._partition])
            rested_at = 0.0
            try:
                writer.remember(self._reviews(consumer))
                if self._terms is not None:
                    self._terms.refresh(clusterer, now=True)
                while not stop.is_set():
                    records = consumer.poll(BATCH, POLL)
                    now = self._clock.now()
                    if records:
                        out = writer.handle(records, now)
                        check()
                        producer.transact(out, consumer)
                    due = []
                    if time.monotonic() >= rested_at:
                        began = time.thread_time()
                        due = writer.tick(now)
                        rested_at = time.monotonic() + REST * (time.thread_time() - began)
                    if due:
                        check()
                        producer.transact(due, None)
                    part = saved.step(now, self._end)
                    if part is not None:
                        check()
                        producer.transact([part], None)
                    if self._terms is not None:  # nothing is undecided here
                        self._terms.refresh(clusterer)
                    if self._beat is not None:
                        self._beat(self._partition, book)
            finally:
                consumer.close()
        finally:
            producer.close()

    def _reviews(self, consumer: Consumer) -> Iterable[Record]:
        """The reviews that earlier tenures have dealt with; `consumer` hands out those after them."""
        done = consumer.position((STORY_REVIEWS.name, self._partition))
        return self._bus.read(STORY_REVIEWS.name, self._partition, 0, done) if done else []

    def _end(self) -> int:
        return self._bus.end_offsets(STORY_CHANGES.name).get(self._partition, 0)


def _from_the_second_on(act: Callable[[], None]) -> Callable[[], None]:
    """`act` from the second call on: who gets the lease at once has nothing to keep warm."""
    calls = itertools.count()
    return lambda: act() if next(calls) else None


def _due(last: float, now: float, interval: float) -> bool:
    """Also true when a replay has set the clock back."""
    return now - last >= interval or now < last


def _place(record: Record) -> str:
    return f"{record.topic}/{record.partition}@{record.offset}"


def main(
    runtime: Runtime, stop: threading.Event, partitions: Sequence[int] = range(LANGUAGE_PARTITIONS), *, minds: Minds,
    snapshot_every: int = snapshots.EVERY, learn: bool = False,
) -> None:  # fmt: skip
    """One thread per partition; ends when `stop` is set. `learn`: adopt term weights as they are published."""
    owned: dict[int, StoryBook] = {}

    def beat(partition: int, book: StoryBook) -> None:
        owned[partition] = book

    archive = archive_of(lake_of(runtime.settings))
    holder = f"{socket.gethostname()}:{os.getpid()}"
    threads = []
    for partition in partitions:
        tenures = Tenures(
            runtime.bus, runtime.clock, partition, minds=minds, repair_interval=runtime.settings.repair_interval,
            beat=beat, archive=archive, front=FrontPages(runtime.redis, partition), snapshot_every=snapshot_every,
            terms=TermStore(runtime.redis) if learn else None,
        )  # fmt: skip
        lease = HeldLease(runtime.redis, f"cluster-{partition}", holder)
        threads.append(threading.Thread(target=tenures.run, args=(lease, stop), name=f"cluster-{partition}"))
    for thread in threads:
        thread.start()
    while not stop.wait(1.0):
        dead = [thread.name for thread in threads if not thread.is_alive()]
        if dead:
            stop.set()
            raise ServiceUnavailable(f"writer threads died: {', '.join(dead)}")
        books = dict(owned)
        runtime.heartbeat(
            PROCESS,
            partitions=sorted(books),
            stories=sum(len(book.stories) for book in books.values()),
            changes=sum(book.sequence for book in books.values()),
        )
    for thread in threads:
        thread.join(timeout=20)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The story writer of the language partitions.")
    parser.add_argument("--partitions", default="", help="comma-separated partition numbers; all by default")
    chosen = [int(part) for part in parser.parse_args().partitions.split(",") if part.strip()]
    numbers = chosen or range(LANGUAGE_PARTITIONS)

    def learning(runtime: Runtime, stop: threading.Event) -> None:
        """With the published term weights, whenever there are new ones."""
        main(runtime, stop, numbers, minds=minds_with(TermStore(runtime.redis).policy), learn=True)

    run_process(PROCESS, learning)
