"""The page store: immutable versions of every shared page, and a pointer to the one that readers see.

`publish` checks a snapshot before readers can see it (editions document: a minimum of stories, a representative for
each, no edition losing more than half its stories in one cycle), writes it under a version of its own and moves the
pointer by compare-and-set; `rollback` is moving the pointer back. Who holds pages in memory listens on `pages`.

Keys and shapes are `contracts/views.py`'s. Not here: what is on a page (`streaming/rank`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import redis
from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import PAGE, PAGE_HISTORY, PAGE_LATEST, PAGES_CHANNEL, POOL, CandidatePool, PageSnapshot
from frontpage.errors import FrontpageError, NotFound

log = logging.getLogger(__name__)

#: Versions kept per page: half an hour of changes to roll back to. 840 pages x 30 x 40 kB is 1 GB.
KEPT: Final = 30
#: A page with fewer stories than this before is new or of a small edition: there, half of it means nothing.
SETTLED: Final = 10

#: Moves the pointer only from the version that the writer read. ARGV: expected ("" for none), new, now, history length
_MOVE: Final = """
local latest = redis.call('GET', KEYS[1]) or ''
if latest ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 1
"""


class RefusedPage(FrontpageError):
    """A snapshot failed its checks. The previous version stays; the ranker's log and heartbeat name the page."""


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """A line of a page's history; `at` is its publish time in virtual seconds."""

    version: int
    at: float
    latest: bool
    stories: int | None


def problems(new: PageSnapshot, old: PageSnapshot | None, *, minimum: int = 1, shrinking: bool = False) -> list[str]:
    """Why `new` must not replace `old`; [] when it may.

    The halving rule is judged on pages of `SETTLED` stories or more. `shrinking` lifts it: the caller says so when
    the stories have been gone for many cycles, because then it is the news that is short, not the ranker that is ill.
    The minimum keeps an empty list from readers.
    """
    found = []
    if len(new.cards) < minimum:
        found.append(f"{len(new.cards)} stories, at least {minimum} are needed")
    found += [f"story {card.story_id} has no representative" for card in new.cards if not card.top.article_id]
    ids = [card.story_id for card in new.cards]
    if len(set(ids)) != len(ids):
        found.append("a story is listed twice")
    if old is not None and not shrinking and len(old.cards) >= SETTLED and len(new.cards) * 2 < len(old.cards):
        found.append(f"{len(old.cards)} stories fell to {len(new.cards)} in one cycle")
    return found


class PageStore:
    """Pages in Redis. Only the ranker and `frontpage pages rollback` write."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._move = store.register_script(_MOVE)

    def latest_version(self, edition: str, section: str) -> int | None:
        """The version that readers see, None when the page does not exist yet."""
        with store_errors():
            value = self._store.get(PAGE_LATEST.key(edition=edition, section=section))
        return int(value) if value else None

    def read(self, edition: str, section: str, version: int | None = None) -> PageSnapshot | None:
        """One version, by default the latest; None when there is none (any more), or none that can be read."""
        version = self.latest_version(edition, section) if version is None else version
        if version is None:
            return None
        with store_errors():
            value = self._store.get(PAGE.key(edition=edition, section=section, n=version))
        try:
            return PageSnapshot.model_validate_json(value) if value else None
        except ValidationError as error:  # the next version must be able to replace it
            log.error("page %s/%s v%d is unreadable: %.200s", edition, section, version, error)
            return None

    def next_version(self, edition: str, section: str) -> int:
        """Above every version ever written: also one that was written and never pointed to."""
        with store_errors():
            newest: Any = self._store.zrange(PAGE_HISTORY.key(edition=edition, section=section), 0, -1)
            highest = max([0, self.latest_version(edition, section) or 0, *map(int, newest)])
            while self._store.exists(PAGE.key(edition=edition, section=section, n=highest + 1)):
                highest += 1
        return highest + 1

    def write(self, page: PageSnapshot) -> None:
        """Store an immutable version; it is not visible yet. Raises RefusedPage when the version exists."""
        with store_errors():
            key = PAGE.key(edition=page.edition, section=page.section, n=page.version)
            if not self._store.set(key, page.model_dump_json(), ex=PAGE.ttl, nx=True):
                raise RefusedPage(f"{key} exists already: versions never change")

    def point(self, page: PageSnapshot, expected: int | None) -> bool:
        """Make `page` the latest if the latest is still `expected`; tells listeners. False when someone was faster."""
        return self._point(page.edition, page.section, page.version, expected, page.generated_at)

    def publish(self, page: PageSnapshot, *, minimum: int = 1) -> None:
        """Check, write and point in one go; raises RefusedPage with all reasons and leaves the old page live."""
        expected = self.check(page, minimum=minimum)
        self.write(page)
        if not self.point(page, expected):
            raise RefusedPage(f"{page.edition}/{page.section}: the pointer moved away from v{expected} meanwhile")

    def check(self, page: PageSnapshot, *, minimum: int = 1, shrinking: bool = False) -> int | None:
        """The version that `page` would replace; raises RefusedPage when it must not."""
        expected = self.latest_version(page.edition, page.section)
        old = self.read(page.edition, page.section, expected) if expected else None
        found = problems(page, old, minimum=minimum, shrinking=shrinking)
        if found:
            raise RefusedPage(f"{page.edition}/{page.section} v{page.version}: {'; '.join(found)}")
        return expected

    def history(self, edition: str, section: str) -> list[VersionInfo]:
        """Versions that can be rolled back to, newest first; raises NotFound for a page that never was."""
        latest = self.latest_version(edition, section)
        with store_errors():
            key = PAGE_HISTORY.key(edition=edition, section=section)
            rows: Any = self._store.zrange(key, 0, -1, withscores=True)
        if latest is None:
            raise NotFound(f"there is no page {edition}/{section}")
        infos = []
        for name, at in sorted(rows, key=lambda row: -int(row[0])):
            page = self.read(edition, section, int(name))
            if page is not None:
                infos.append(VersionInfo(int(name), float(at), int(name) == latest, len(page.cards)))
        return infos

    def rollback(self, edition: str, section: str, to: int | None = None) -> int:
        """Point to `to`, by default the version before the latest; returns it. Raises NotFound."""
        latest = self.latest_version(edition, section)
        if to is None:
            older = [info.version for info in self.history(edition, section) if info.version < (latest or 0)]
            if not older:
                raise NotFound(f"{edition}/{section} has no version before v{latest}")
            to = older[0]
        page = self.read(edition, section, to)
        if page is None:
            raise NotFound(f"{edition}/{section} v{to} does not exist (any more)")
        if not self._point(edition, section, to, latest, page.generated_at):
            raise RefusedPage(f"{edition}/{section}: the pointer moved meanwhile, try again")
        return to

    def write_pool(self, pool: CandidatePool) -> None:
        """The edition's candidates for personal ranking; replaces the last pool."""
        with store_errors():
            self._store.set(POOL.key(edition=pool.edition), pool.model_dump_json(), ex=POOL.ttl)

    def trim(self, edition: str, section: str) -> None:
        """Forget versions beyond the newest `KEPT`, never the latest."""
        key = PAGE_HISTORY.key(edition=edition, section=section)
        latest = self.latest_version(edition, section)
        with store_errors():
            names: Any = self._store.zrange(key, 0, -1)
            versions = sorted(int(name) for name in names)
            old = [version for version in versions[:-KEPT] if version != latest]
            if old:
                self._store.delete(*(PAGE.key(edition=edition, section=section, n=version) for version in old))
                self._store.zrem(key, *old)

    def _point(self, edition: str, section: str, version: int, expected: int | None, at: float) -> bool:
        keys = [PAGE_LATEST.key(edition=edition, section=section), PAGE_HISTORY.key(edition=edition, section=section)]
        moved = f"{edition}/{section}/{version}"
        arguments: Sequence[str | int | float] = [
            "" if expected is None else expected, version, at, PAGE_HISTORY.ttl or 0, PAGES_CHANNEL.key(), moved,
        ]  # fmt: skip
        with store_errors():
            return bool(self._move(keys=keys, args=arguments))
