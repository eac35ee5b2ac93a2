"""A poller as a process of its own that a test can kill: `python poller_process.py REDIS_URL RESOLVER_PORT`.

Its claims last a second, so that another takes its feeds soon; what it would send to Kafka goes nowhere.
"""

from __future__ import annotations

import asyncio
import sys
import threading

from fakes.bus import MemoryBus
from fakes.ingest import poller_over

from frontpage.adapters.fetch_addresses import ResolverMap
from frontpage.adapters.redis_store import open_redis
from streaming.ingest import poller


async def main(url: str, port: int) -> None:
    poller.CLAIM_REAL = poller.CLAIM_VIRTUAL = 1.0  # type: ignore[misc]
    async with poller_over(
        open_redis(url), ResolverMap("127.0.0.1", port), MemoryBus().producer(), timeout=60.0
    ) as running:
        await running.run(threading.Event())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
