"""The story store: what `story.changes` says, as rows that the API reads (`story:{id}`, aliases, Full Coverage).

Written only from `story.changes`. Each batch of a partition ends in one MULTI with the rows it touched and the sequence
it reached; a batch whose sequence is already there writes nothing, so a replay after a crash is harmless and a process
that lost its partition cannot put old rows over new ones. Rows lost with Redis are written again from the log. Links to
stories of other languages come from `story.links` (`link_rows.py`).

Not here: decisions (`writer.py`), page cards (`streaming/rank`). Run: `python -m streaming.cluster.store`.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import threading
from collections.abc import Iterable, Sequence
from typing import Final

import redis

from frontpage.adapters.bus import Bus, Outgoing, Record
from frontpage.adapters.clock import Clock
from frontpage.adapters.loop import dead_letter, fault_of, run_transactional
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.events import StoryChange
from frontpage.contracts.story_codec import from_event
from frontpage.contracts.topics import STORY_CHANGES
from frontpage.contracts.views import STORIES_APPLIED, STORY, StoryMember, StoryRow
from frontpage.domain.story import Change, Story, StoryBook
from frontpage.runtime import Runtime, run_process
from streaming.cluster.link_rows import LinkRows
from streaming.cluster.rebuild import read_changes

log = logging.getLogger(__name__)

PROCESS: Final = "cluster.store"
GROUP: Final = "story-store"


class StoreWork:
    """`Work` of the loop: keeps a book per partition and the rows in Redis in step with it."""

    def __init__(self, bus: Bus, store: redis.Redis, clock: Clock) -> None:
        self._bus, self._store, self._clock = bus, store, clock
        self._books: dict[int, StoryBook] = {}
        self._links = LinkRows(bus, store)

    def handle(self, records: list[Record]) -> list[Outgoing]:
        """Write the rows of a batch; returns dead letters only. Repeating it changes nothing."""
        dead: list[Outgoing] = []
        self._links.refresh()
        by_partition = itertools.groupby(sorted(records, key=lambda r: (r.partition, r.offset)), lambda r: r.partition)
        for partition, group in by_partition:
            batch = list(group)
            changes: list[Change] = []
            for record in batch:
                try:
                    event = StoryChange.decode(record.value)
                    if event is not None:
                        changes.append(from_event(event))
                except Exception as error:  # noqa: BLE001 - `fault_of` raises what is not the record's fault
                    dead.append(dead_letter(record, fault_of(record, error), PROCESS, self._clock.now()))
            try:
                self._apply(partition, batch[0].offset, changes)
            except Exception:
                self._books.pop(partition, None)  # the book may be ahead of the rows: start from the log
                raise
        return dead

    def link(self) -> None:
        """Bring new links into the rows; at most once a second. Raises ServiceUnavailable."""
        self._links.refresh()

    def stories(self) -> int:
        """Open stories known to this process."""
        return sum(len(book.stories) for book in self._books.values())

    def _apply(self, partition: int, offset: int, changes: Sequence[Change]) -> None:
        with store_errors():
            applied = int(self._store.get(STORIES_APPLIED.key(partition=partition)) or 0)
        book = self._books.get(partition)
        gap = bool(book and changes and changes[0].sequence > book.sequence + 1)
        touched: dict[str, Story] = {}
        aliases: dict[str, str] = {}
        if book is None or gap:
            book, touched, aliases = self._rebuilt(partition, offset)
            self._books[partition] = book
            if applied >= book.sequence:
                touched, aliases = {}, {}  # a new process over rows that are all there
        elif applied < book.sequence:
            log.warning("story rows of partition %d are behind (%d of %d)", partition, applied, book.sequence)
            touched = dict(book.stories)
            aliases = dict(book.aliases)
        for change in changes:
            self._step(book, change, touched, aliases)
        self._write(partition, book, touched.values(), aliases)

    def _rebuilt(self, partition: int, offset: int) -> tuple[StoryBook, dict[str, Story], dict[str, str]]:
        """The book from the log before `offset`, without changes that break it (they were dead-lettered in their turn),
        and the stories and aliases that it touched.
        """
        broken: set[str] = set()
        while True:
            book, touched, aliases = StoryBook(), dict[str, Story](), dict[str, str]()
            for change in read_changes(self._bus.read(STORY_CHANGES.name, partition, 0, offset)):
                if change.change_id in broken:
                    continue
                try:
                    self._step(book, change, touched, aliases)
                except Exception:
                    log.exception("change %s left out of the book", change.change_id)
                    broken.add(change.change_id)
                    break
            else:
                return book, touched, aliases

    @staticmethod
    def _step(book: StoryBook, change: Change, touched: dict[str, Story], aliases: dict[str, str]) -> None:
        for story in book.apply(change):
            touched[story.story_id] = story
        if change.kind == "merge":
            survivor = book.resolve(change.story_id)
            aliases.update({old: target for old, target in book.aliases.items() if target == survivor})

    def _write(self, partition: int, book: StoryBook, stories: Iterable[Story], aliases: dict[str, str]) -> None:
        """One MULTI, unless another process has already brought the partition this far."""
        key, sequence = STORIES_APPLIED.key(partition=partition), book.sequence
        names: dict[str, list[str]] = {}
        for old, survivor in book.aliases.items():
            names.setdefault(survivor, [survivor]).append(old)
        rows = {
            story.story_id: row_of(story, self._links.of(names.get(story.story_id, [story.story_id])))
            for story in stories
        }
        for old, survivor in aliases.items():
            language = rows[survivor].language if survivor in rows else rows[old].language if old in rows else ""
            rows[old] = StoryRow(story_id=old, language=language, alias_of=survivor)
        with store_errors(), self._store.pipeline(transaction=True) as pipe:
            try:
                pipe.watch(key)  # type: ignore[no-untyped-call]
                if int(pipe.get(key) or 0) >= sequence:
                    return
                pipe.multi()
                for story_id, row in rows.items():
                    pipe.set(STORY.key(story=story_id), row.model_dump_json(), ex=STORY.ttl)
                pipe.set(key, sequence)
                pipe.execute()
            except redis.WatchError:
                log.info("partition %d: another store was faster", partition)


def row_of(story: Story, links: Sequence[str] = ()) -> StoryRow:
    """The row of a story as it stands; an absorbed story becomes an alias row without members or links."""
    if story.alias_of is not None:
        return StoryRow(story_id=story.story_id, language=story.language, alias_of=story.alias_of)
    members = [
        StoryMember(
            article=member.card,
            copy_of=member.copy_of,
            joined_at=member.joined_at,
            score=member.score,
            evidence=dict(member.evidence),
        )
        for member in story.members.values()
        if member.card is not None
    ]
    return StoryRow(
        story_id=story.story_id,
        language=story.language,
        created_at=story.created_at,
        updated_at=story.updated_at,
        members=members,
        history=list(story.history),
        links=list(links),
        closed=story.closed,
    )


def main(runtime: Runtime, stop: threading.Event, instance: int = 0) -> None:
    """Runs until `stop` is set. Several may run, each under its own `instance`: each has a share of the partitions."""
    work = StoreWork(runtime.bus, runtime.redis, runtime.clock)

    def idle() -> None:
        runtime.heartbeat(PROCESS, stories=work.stories())
        work.link()

    run_transactional(
        runtime.bus, process=PROCESS, group=GROUP, topics=[STORY_CHANGES.name],
        transactional_id=f"story-store-{instance}", work=work, clock=runtime.clock, stop=stop, idle=idle,
    )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Rows of stories in Redis.")
    parser.add_argument("--instance", type=int, default=0, help="number of this process among several, from 0")
    number = parser.parse_args().instance
    run_process(PROCESS, lambda runtime, stop: main(runtime, stop, number))
