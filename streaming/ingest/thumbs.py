"""Thumbnails: the lead image fetched by us, resized, in Redis, served from our own address. Best effort, bounded.

A thumbnail never delays or loses an article: what is not there within the batch's patience is left out. The id is a
hash of the image's address, so that one picture of a wire service is fetched and kept once. Licence: the caller asks
only for publishers whose thumbnails we may show.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import THUMB
from frontpage.domain.ids import digest
from frontpage.errors import FetchError, ServiceUnavailable, UnreadableInput

if TYPE_CHECKING:
    import redis

    from frontpage.adapters.fetch import Fetcher

log = logging.getLogger(__name__)

#: Real seconds for all images of a batch.
PATIENCE: Final = 4.0
CONCURRENT: Final = 16


class Thumbs:
    """Makes thumbnails for a batch."""

    def __init__(self, fetcher: Fetcher, store: redis.Redis, *, patience: float = PATIENCE) -> None:
        self._fetcher = fetcher
        self._store = store
        self._patience = patience

    async def make(self, images: Iterable[str]) -> dict[str, str]:
        """{image address: thumb id} of those that are in Redis now. Never raises for an image's sake."""
        slots = asyncio.Semaphore(CONCURRENT)
        tasks = {url: asyncio.create_task(self._one(url, slots)) for url in dict.fromkeys(images)}
        if not tasks:
            return {}
        await asyncio.wait(tasks.values(), timeout=self._patience)
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        return {
            url: thumb
            for url, task in tasks.items()
            if not task.cancelled() and task.exception() is None and (thumb := task.result()) is not None
        }

    async def _one(self, url: str, slots: asyncio.Semaphore) -> str | None:
        thumb = digest(url)
        key = THUMB.key(thumb=thumb)
        # Pillow is loaded by the first picture, not by every process that imports this module
        from frontpage.adapters.parse.images import thumbnail

        async with slots:
            try:
                with store_errors():
                    if await asyncio.to_thread(self._store.expire, key, THUMB.ttl or 0):
                        return thumb
                answer = await self._fetcher.get(url, kind="image")
                if not 200 <= answer.status < 300:
                    return None
                small = await asyncio.to_thread(thumbnail, answer.body)
                with store_errors():
                    await asyncio.to_thread(self._store.set, key, small, THUMB.ttl)
            except (FetchError, UnreadableInput, ServiceUnavailable) as error:
                log.debug("no thumbnail of %s: %s", url[:300], error)
                return None
            except Exception:  # an image that breaks its decoder must not stop the batch; the trace finds the bug
                log.exception("image %s broke its decoder", url[:300])
                return None
        return thumb
