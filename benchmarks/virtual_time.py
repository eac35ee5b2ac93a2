"""An event loop whose time leaps: when nothing is ready, the next timer is, so that a week of waiting costs nothing.

What runs in it is ordinary asyncio code of the product, unchanged: sleeps, timeouts, queues, locks. Threads are run in
place (`asyncio.to_thread` returns what a thread would have), so that a run is repeatable and never waits for one.
Sockets are not for here: nobody would wait for their answers in virtual time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class _Leaping(selectors.DefaultSelector):
    """Lets the loop's clock leap by the time-out that it would have slept."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing is left to happen: every task waits for something that no timer brings")
        if timeout > 0:
            self.loop.leap(timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """`time()` is virtual seconds since 1970, beginning at `start`."""

    def __init__(self, start: float) -> None:
        self._virtual = start
        selector = _Leaping()
        selector.loop = self
        super().__init__(selector)
        # a timer is due within it: seconds since 1970 are floats of a quarter of a microsecond
        self._clock_resolution = 1e-6

    def time(self) -> float:
        """Virtual seconds since 1970."""
        return self._virtual

    def leap(self, seconds: float) -> None:
        """Let so much time pass."""
        self._virtual += seconds

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Runs `func` here and now."""
        del executor
        future: asyncio.Future[Any] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - belongs to whoever awaits the future
            future.set_exception(error)
        return future


class VirtualClock:
    """The product's clock over such a loop; waits of the product are waits of the loop."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        """Virtual seconds since 1970."""
        return self._loop.time()

    def real_seconds(self, virtual_seconds: float) -> float:
        """The same number: the loop's seconds are the virtual ones."""
        return max(0.001, virtual_seconds)


def run(main: Callable[[VirtualClock], Coroutine[Any, Any, None]], start: float) -> None:
    """Run `main(clock)` to its end in a loop that begins at `start`."""
    loop = VirtualLoop(start)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main(VirtualClock(loop)))
