"""A local web server for ingest tests: plays any host, well and badly. Handlers are looked up by (host, path)."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable

from aiohttp import web

from frontpage.adapters.fetch_addresses import ResolverMap

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LocalServer:
    """Runs in a thread of its own; `on` registers answers, `hits` counts requests by `host/path`."""

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()
        self.seen: list[web.Request] = []
        self.open_now: Counter[str] = Counter()
        self.most_open: Counter[str] = Counter()
        self._handlers: dict[str, Handler] = {}
        self._default: Handler | None = None
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    @property
    def resolver(self) -> ResolverMap:
        return ResolverMap("127.0.0.1", self.port)

    def on(self, address: str, answer: Handler | bytes | str, *, status: int = 200, **headers: str) -> None:
        """`address` is `host/path`; a body becomes an answer with that status and these headers (`_` is `-`)."""
        if callable(answer):
            self._handlers[address] = answer
            return
        body = answer.encode() if isinstance(answer, str) else answer
        shown = {name.replace("_", "-"): value for name, value in headers.items()}

        async def say(_: web.Request) -> web.Response:
            return web.Response(body=body, status=status, headers=shown)

        self._handlers[address] = say

    def otherwise(self, handler: Handler) -> None:
        """What all other addresses answer (default: 404)."""
        self._default = handler

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(15)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stopping = asyncio.Event()
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.5, handler_cancellation=True)
        await runner.setup()
        await web.SockSite(runner, self._socket).start()
        self._ready.set()
        await self._stopping.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        host = request.host.split(":")[0]
        address = f"{host}{request.path}"
        self.hits[address] += 1
        self.seen.append(request)
        self.open_now[host] += 1
        self.most_open[host] = max(self.most_open[host], self.open_now[host])
        try:
            handler = self._handlers.get(address) or self._default
            return await handler(request) if handler else web.Response(status=404, text="not here")
        finally:
            self.open_now[host] -= 1
