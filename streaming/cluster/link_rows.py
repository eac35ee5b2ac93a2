"""Links in story rows: `story.links` as the store sees it, whole, whichever partitions it owns.

Every store reads the topic from its beginning and keeps the pairs. It adds them to the rows that it writes, and to
rows that are there already, whoever wrote them: read, add, write under WATCH, so that nothing is lost to another
store and a repetition changes nothing. Links name stories as they were called when the link was found; a row that has
become an alias passes its links on to the survivor. Not here: finding links (`links.py`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any, Final

import redis
from pydantic import ValidationError

from frontpage.adapters.bus import Bus, Consumer, Record
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.events import StoryLink
from frontpage.contracts.topics import STORY_LINKS
from frontpage.contracts.views import STORY, StoryRow
from frontpage.errors import ServiceUnavailable, UnreadableEvent

log = logging.getLogger(__name__)

#: Real seconds between looks at the topic: links are found every few minutes, readers need them within seconds.
LOOK: Final = 1.0
#: Tries to change a row that another store is writing.
TRIES: Final = 10


class LinkRows:
    """All links, and their way into rows. Not shared between threads."""

    def __init__(self, bus: Bus, store: redis.Redis) -> None:
        self._bus, self._store = bus, store
        self._consumer: Consumer | None = None
        self._links: dict[str, set[str]] = {}
        self._pending: set[str] = set()
        self._looked_at = float("-inf")

    def of(self, story_ids: Iterable[str]) -> list[str]:
        """Ids linked to any of `story_ids`: a story and its aliases."""
        own = set(story_ids)
        return sorted({other for story_id in own for other in self._links.get(story_id, ())} - own)

    def refresh(self) -> None:
        """Take in new links and bring the rows up to them, at most once a second.

        Raises ServiceUnavailable; what was not done then is done by the next call.
        """
        now = time.monotonic()
        if now - self._looked_at < LOOK:
            return
        if self._consumer is None:
            for partition, end in self._bus.end_offsets(STORY_LINKS.name).items():
                # no row is written before the links of the past are known
                self._take(self._bus.read(STORY_LINKS.name, partition, 0, end))
            # a group that never commits: every store reads everything, from the start
            partitions = range(STORY_LINKS.partitions)
            self._consumer = self._bus.consumer("story-store-links", [STORY_LINKS.name], partitions=partitions)
        while records := self._consumer.poll(1000, 0.05):
            self._take(records)
        self._looked_at = now
        for story_id in sorted(self._pending):
            self._add(story_id, self._links[story_id])
            self._pending.discard(story_id)

    def _take(self, records: Iterable[Record]) -> None:
        for record in records:
            try:
                link = StoryLink.decode(record.value)
            except UnreadableEvent as error:  # every store reads it: the bronze table keeps it with its cause
                log.error("%s@%d: %s", record.topic, record.offset, error)
                continue
            if link is None or link.left == link.right:
                continue
            for one, other in ((link.left, link.right), (link.right, link.left)):
                if other not in self._links.setdefault(one, set()):
                    self._links[one].add(other)
                    self._pending.add(one)

    def _add(self, story_id: str, others: set[str]) -> None:
        """Into the row of the story or of its survivor. Without a row there is nothing to do: its writer adds them."""
        key = STORY.key(story=story_id)
        for _ in range(TRIES):
            with store_errors(), self._store.pipeline(transaction=True) as pipe:
                try:
                    pipe.watch(key)  # type: ignore[no-untyped-call]
                    value: Any = pipe.get(key)
                    if value is None:
                        return
                    try:
                        row = StoryRow.model_validate_json(value)
                    except ValidationError as error:
                        # its story's next change writes the row anew, and with its links
                        log.error("%s is unreadable, left as it is: %.200s", key, error)
                        return
                    if row.alias_of:
                        key = STORY.key(story=row.alias_of)  # one hop
                        continue
                    links = sorted({*row.links, *others} - {row.story_id})
                    if links == sorted(row.links):
                        return
                    pipe.multi()
                    pipe.set(key, row.model_copy(update={"links": links}).model_dump_json(), keepttl=True)
                    pipe.execute()
                    return
                except redis.WatchError:
                    continue
        raise ServiceUnavailable(f"the row of story {story_id} is being written all the time")
