"""The wire of `week.py`: the product's fetch tier without sockets, a meter at the servers' end, a hub, rows in memory.

`Wire` is `FetchTier` with only its last step replaced: addresses, robots.txt, budgets, redirects and holds are the
product's. `Meter` knows nothing of the product's budget: it recounts, by registrable domain and by host, what servers
see.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from yarl import URL

from benchmarks.week_sites import START, Feed, Reply, robots
from frontpage.adapters.feed_rows import FeedRow, FeedRows, _due
from frontpage.adapters.fetch import Fetched, FetchTier, Kind
from frontpage.adapters.fetch_budget import BURST, PER_HOST, RATE
from frontpage.domain import pace, websub
from frontpage.domain.freshness import retry_after
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.ids import digest
from frontpage.domain.websub import BodyCheck
from frontpage.errors import FetchFailed

if TYPE_CHECKING:
    from frontpage.adapters.clock import Clock
    from frontpage.adapters.push_rows import PushRows

DAY = 86_400.0
#: Seconds that a request takes, there and back: between these, by address and moment.
FASTEST, SLOWEST = 0.05, 0.6
#: Seconds by which a request may arrive sooner after another than both were granted: calls for tokens are gathered.
JITTER = 0.05


class Meter:
    """What all servers see. `broken` counts requests beyond a limit, by which one."""

    def __init__(self, delayed: set[str]) -> None:
        self.requests = 0
        self.most_open = 0
        self.broken: Counter[str] = Counter()
        self.seconds: Counter[int] = Counter()
        self._delayed = delayed
        self._tokens: dict[str, tuple[float, float]] = {}
        self._last: dict[str, float] = {}
        self._open: Counter[str] = Counter()
        self._held: dict[str, float] = {}

    def begin(self, host: str, kind: Kind, now: float) -> None:
        """A request arrives."""
        domain = registrable_domain(host)
        self.requests += 1
        self.seconds[int(now)] += 1
        tokens, at = self._tokens.get(domain, (BURST, now))
        tokens = min(BURST, tokens + (now - at) * RATE) - 1
        self._tokens[domain] = tokens, now
        self.broken["domain"] += tokens < -JITTER * RATE
        if kind != "robots" and host in self._delayed:
            self.broken["crawl-delay"] += now - self._last.get(host, 0.0) < 10.0 - JITTER
            self._last[host] = now
        self.broken["held"] += now < self._held.get(host, 0.0) - JITTER
        self._open[host] += 1
        self.most_open = max(self.most_open, self._open[host])
        self.broken["host"] += self._open[host] > PER_HOST

    def end(self, host: str, reply: Reply, now: float) -> None:
        """Its answer leaves. A server that says when to come back expects nobody before."""
        self._open[host] -= 1
        wait = retry_after(reply.headers, now) if reply.status in (429, 503) else None
        if wait is not None:
            self._held[host] = now + wait


class Agenda:
    """What happens by itself: calls of the loop at their times."""

    def __init__(self) -> None:
        self._early: list[tuple[float, Callable[[float], None]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def at(self, when: float, what: Callable[[float], None]) -> None:
        """Let `what(when)` happen."""
        if self._loop is None:
            self._early.append((when, what))
        else:
            self._loop.call_at(when, what, when)

    def open(self) -> None:
        """From now on; inside the loop."""
        self._loop = asyncio.get_running_loop()
        for when, what in self._early:
            self._loop.call_at(when, what, when)
        self._early.clear()


class Hub:
    """A WebSub hub for all feeds that name it, and the push receiver at our end without its HTTP."""

    def __init__(self, agenda: Agenda, push: PushRows, rows: FeedRows) -> None:
        self._agenda, self._push, self._rows = agenda, push, rows
        self._subscribed: dict[str, tuple[str, str, float]] = {}
        self.delivered = 0
        self.forged_taken = 0

    def ask(self, form: Mapping[str, str], now: float) -> Reply:
        """A request to subscribe: accepted, and verified two seconds later."""
        self._agenda.at(now + 2.0, lambda at: self._verify(dict(form), at))
        return Reply(202)

    def _verify(self, form: dict[str, str], now: float) -> None:
        id, topic, mode = form["hub.callback"].rsplit("/", 1)[1], form["hub.topic"], form["hub.mode"]
        lease = min(3 * DAY, float(form.get("hub.lease_seconds", 0)))
        changed = self._push.change(id, lambda state: websub.verified(state, mode, topic, lease, now))
        if changed is None or mode != "subscribe":
            self._subscribed.pop(topic, None)
            return
        self._rows.lease(changed.feed_id, changed.lease_until)
        self._subscribed[topic] = id, form["hub.secret"], now + lease

    def publish(self, topic: str, now: float, *, forged: bool = False) -> None:
        """Tell the subscriber that the topic has news; forged: somebody who does not know the secret does."""
        id, secret, until = self._subscribed.get(topic, ("", "", 0.0))
        if now >= until:
            return
        body = f"<news at='{now}'/>".encode()
        signature = websub.sign("guessed" if forged else secret, body)
        wanted = self._push.get(id)
        if wanted is None:
            return
        check = BodyCheck(wanted.subscription.secret, signature)
        check.update(body)
        if check.matches():
            self.forged_taken += forged
            self.delivered += not forged
            self._rows.boost(wanted.subscription.feed_id, None, now, why="websub")


class Wire(FetchTier):
    """The fetch tier over simulated servers."""

    def serve(self, feeds: Sequence[Feed], meter: Meter, hub: Hub, clock: Clock) -> None:
        """Whom to ask; call before the first fetch."""
        self._by_host = {feed.host: feed for feed in feeds}
        self._meter, self._hub, self._now = meter, hub, clock.now

    async def _request(
        self, url: URL, kind: Kind, headers: Mapping[str, str] | None, form: Mapping[str, str] | None
    ) -> Fetched:
        host, began = url.host or "", self._now()
        self._meter.begin(host, kind, began)
        share = int(digest(f"{host}{began:.3f}", 4), 16) / 0xFFFF
        await asyncio.sleep(FASTEST + (SLOWEST - FASTEST) * share**3)
        now = self._now()
        feed = self._by_host.get(host) or self._by_host.get(host.removeprefix("new-").removeprefix("guest-"))
        if form is not None:
            reply = self._hub.ask(form, now)
        elif feed is None:
            raise FetchFailed(f"no address: {host}", cause="dns")
        elif kind == "robots":
            reply = robots(feed.quirk)
        else:
            reply = feed.answer(host, dict(headers or {}), now)
        self._meter.end(host, reply, now)
        return Fetched(str(url), reply.status, reply.headers, reply.body)


class MemoryRows(FeedRows):
    """`FeedRows` without a server: the same claims and compare-and-set over a dict and a heap.

    A claim costs 32 script calls on the real store, which a week of seconds cannot afford; `tests/` runs both.
    """

    def __init__(self) -> None:
        self._rows: dict[str, FeedRow] = {}
        self._score: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []
        self._latest: float | None = None

    def put(self, row: FeedRow) -> None:
        """See FeedRows."""
        self._queue(row.source.feed_id, _due(row.state))
        self._rows[row.source.feed_id] = replace(row, raw=row.encode())

    def get_many(self, feed_ids: Sequence[str]) -> Iterator[FeedRow]:
        """See FeedRows."""
        for feed in feed_ids:
            if feed in self._rows:
                yield self._rows[feed]

    def all(self) -> Iterator[FeedRow]:
        """See FeedRows."""
        yield from list(self._rows.values())

    def claim(self, now: float, limit: int, lease: float) -> list[FeedRow]:
        """See FeedRows."""
        claimed: list[FeedRow] = []
        while self._heap and self._heap[0][0] <= now and len(claimed) < limit:
            score, feed = heapq.heappop(self._heap)
            if self._score.get(feed) == score:
                self._queue(feed, now + lease)
                claimed.append(self._rows[feed])
        return claimed

    def next_due(self) -> float | None:
        """See FeedRows."""
        return min(self._score.values(), default=None)

    def ids(self) -> list[str]:
        """See FeedRows."""
        return list(self._rows)

    def keep(self, now: float, speed: float) -> int:
        """See `FeedPace`: the other twin."""
        happened, latest = pace.turn(self._latest, now, speed), self._latest
        self._latest = now
        if latest is None or happened == "on":
            return 0
        entries = sorted((at, feed) for feed, at in self._score.items() if at < math.inf)
        due = [at for at, _ in entries]
        overdue = sum(at <= now for at in due)
        then = pace.moved_back(due, latest, now) if happened == "set-back" else pace.spread_out(due, now, overdue)
        for (_, feed), at in zip(entries, then, strict=True):
            self._queue(feed, at)
        return len(entries)

    def _swap(self, rows: Sequence[tuple[FeedRow, float | None]]) -> list[int]:
        outcomes = []
        for row, waiting in rows:
            feed = row.source.feed_id
            present = self._rows.get(feed)
            outcomes.append(-1 if present is None else int(present.raw == row.raw))
            if outcomes[-1] != 1:
                continue
            self._rows[feed] = replace(row, raw=row.encode())
            if waiting is None or self._score[feed] <= waiting:
                self._queue(feed, _due(row.state))
        return outcomes

    def _queue(self, feed: str, score: float) -> None:
        self._score[feed] = score
        heapq.heappush(self._heap, (score, feed))


class Ledger:
    """The bus's producer: when each article was handed on, and how polls ended by feed."""

    def __init__(self, feeds: Mapping[str, Feed]) -> None:
        self._feeds = feeds
        self.seen: dict[str, tuple[float, str]] = {}
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self.polls: dict[str, list[float]] = defaultdict(list)
        self.audited: dict[str, list[float]] = defaultdict(list)
        self.looks = 0

    def send(self, records: Any) -> None:
        """See `Producer`."""
        from frontpage.contracts.events import FeedItem, PollOutcome

        for record in records:
            if record.topic == "items.raw":
                item = FeedItem.decode(record.value)
                if item is not None and item.url not in self.seen:
                    self.seen[item.url] = item.seen_at, item.arrived_by
            elif record.topic == "polls":
                outcome = PollOutcome.decode(record.value)
                if outcome is not None and outcome.audit:
                    self.looks += 1
                    self.audited[outcome.feed_id] += [] if outcome.delay is None else [outcome.delay]
                elif outcome is not None:
                    self.outcomes[outcome.feed_id][outcome.outcome] += 1
                    self.outcomes[outcome.feed_id]["fruitful"] += outcome.new_items > 0
                    self.polls[outcome.feed_id].append(outcome.at - START)

    def close(self) -> None:
        """Nothing to close."""
