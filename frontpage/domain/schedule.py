"""When to poll a feed next: state + answer + now -> next state. Pure; the poller is the thin shell around it.

The manual, in the order of a feed's life:

- `plan` says what to ask for: the address (a permanent redirect is followed for good) and the validators, sent
  back byte for byte. Nothing but 304 for 23 hours makes one plain GET, to catch validators that never change.
- `decide` takes the answer. New items are those whose guid is not among the last 200; a known guid under another
  title or address is a changed item: it is handed on (a corrected headline is a new version) but does not count
  as publishing.
- Validators are one opaque pair of one response: replaced together by a 200 that parsed, refreshed by a 304, dropped
  when they lie (another content under the same pair) or are noise (a new pair for the same content, again and again).
- The interval is half the expected gap between items (`rhythm.py`), clamped to floor and ceiling (editions document);
  sooner after new items. Where a hub tells us of news (a living WebSub lease), polling is the backstop: 15 minutes.
- `boosted` takes a request to poll now (a push, a burst): at once, but 30 seconds after the last poll at the soonest.
- Retry-After (both forms, the date against the response's own Date), max-age and Expires set a lower bound; errors
  back off by doubling; 410 stops the feed and keeps its record. Nobody is unsubscribed by a 429.

Not here: fetching, parsing, budgets of hosts (a Retry-After also holds the whole host: `adapters/fetch_budget.py`).
Rejected: a fixed interval per tier (misses the morning rush), random jitter (not repeatable: the spread is a digest).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final, Literal

from frontpage.domain import rhythm
from frontpage.domain.freshness import freshness, retry_after, stamp
from frontpage.domain.ids import digest
from frontpage.domain.push import FETCH_GAP

HOUR: Final = 3600.0
DAY: Final = 86_400.0
#: "the last 200 item guids" (editions document); a longer document keeps all of its own, up to this bound.
GUIDS: Final = 200
GUIDS_BOUND: Final = 2_000

Trust = Literal["yes", "always-new", "never-new"]
Outcome = Literal["new", "unchanged", "not_modified", "error", "refused"]


@dataclass(frozen=True, slots=True)
class Policy:
    """Seconds. Floors and ceiling are the editions document's; the rest is explained at each line.

    Sections and sitemaps of a site are the long tail: what they list is found through the site's main feed.
    """

    floor: float = 60.0
    long_tail_floor: float = 300.0
    ceiling: float = 3600.0
    #: of a publisher's main feed: what publication to page within 5 minutes (personalised-feed document, p95) leaves
    #: for discovery. 5 k feeds at the floor, 45 k here and 150 k at the hour are 350 polls a second, the whole load.
    main_ceiling: float = 200.0
    #: a feed without news for `silent_after` may wait this long
    silent_ceiling: float = 6 * HOUR
    silent_after: float = 14 * DAY
    #: nothing a server says or an error does makes us wait longer
    longest: float = DAY
    #: one plain GET after this long of 304 only (a day, less the longest interval)
    probe_after: float = 23 * HOUR
    #: so many 200s in a row with new validators and the same content: the validators are noise
    noise_limit: int = 5
    #: dropped validators get another chance after a week (servers are repaired)
    distrust_for: float = 7 * DAY
    #: "relax the backstop poll to 15 minutes" where a hub delivers (editions document)
    backstop: float = 900.0
    #: so many finds in a row that the hub had not announced: it sleeps, poll as if there were none
    unannounced_limit: int = 3
    #: news comes in bunches: the interval after new items is divided by this
    sooner: float = 3.0


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms a decision is taken. `floor` and `ceiling`: the feed's own, in seconds."""

    feed_id: str
    floor: float
    policy: Policy
    now: float
    ceiling: float | None = None


@dataclass(frozen=True, slots=True)
class FeedState:
    """One feed's memory. Times are virtual seconds; `next_at` None means stopped (see `stopped`).

    guids: `guid digest:content digest`, newest first. rate: {hour of the week: decayed items}, decayed to `rate_at`.
    """

    next_at: float | None = 0.0
    etag: str | None = None
    last_modified: str | None = None
    trust: Trust = "yes"
    trust_at: float | None = None
    noise: int = 0
    fingerprint: str = ""
    body_at: float | None = None
    guids: tuple[str, ...] = ()
    rate: dict[int, float] = field(default_factory=dict)
    rate_at: float = 0.0
    since: float | None = None
    last_new_at: float | None = None
    errors: int = 0
    stopped: str | None = None
    moved_to: str | None = None
    boost_until: float | None = None
    last_at: float | None = None
    last_status: int | None = None
    last_cause: str | None = None
    polls: int = 0
    not_modified: int = 0
    fruitful: int = 0
    failed: int = 0
    new_items: int = 0
    #: a request to poll that no poll has served yet, and whose it was (`PollRequest.why`)
    wanted_at: float | None = None
    wanted_by: str | None = None
    #: end of the WebSub lease, written by the push receiver; finds in a row that the hub had not announced
    lease_until: float | None = None
    unannounced: int = 0
    #: mean delay from publication to seen, exponentially smoothed over polls with new items
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What the schedule needs of an item: its guid (or address), its title and address, its stated time."""

    guid: str
    content: str
    published_at: float | None = None

    @property
    def known_as(self) -> str:
        """`guid digest:content digest`: bounded, whatever a feed writes in its guids."""
        return f"{digest(self.guid, 16)}:{digest(self.content, 8)}"


@dataclass(frozen=True, slots=True)
class Answer:
    """How a poll ended. `entries` is None unless the body parsed as a feed; `status` None when nobody answered.

    headers: lower-case names. moved_to: the final address when every redirect on the way was permanent.
    """

    status: int | None
    headers: dict[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] | None = None
    conditional: bool = False
    moved_to: str | None = None
    cause: str | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask: the address and the conditional headers (empty for a plain GET)."""

    url: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Decision:
    """The next state; `fresh` and `changed` are indices of the entries to hand on (disjoint)."""

    state: FeedState
    outcome: Outcome
    cause: str | None = None
    fresh: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    delay: float | None = None


def plan(url: str, state: FeedState, policy: Policy, now: float) -> Plan:
    """The request for a poll at `now`."""
    target = state.moved_to or url
    distrusted = state.trust != "yes" and now - (state.trust_at or now) < policy.distrust_for
    probing = state.body_at is not None and now - state.body_at >= policy.probe_after
    if distrusted or probing or state.body_at is None:
        return Plan(target, {})
    headers = {}
    if state.etag is not None:
        headers["If-None-Match"] = state.etag
    if state.last_modified is not None:
        headers["If-Modified-Since"] = state.last_modified
    return Plan(target, headers)


def decide(state: FeedState, answer: Answer, terms: Terms) -> Decision:
    """The whole decision for one answer. A request to poll is served by it, whatever the answer."""
    now = terms.now
    state = replace(state, polls=state.polls + 1, last_at=now, last_status=answer.status, last_cause=answer.cause)
    if answer.status == 410:
        gone = replace(state, next_at=None, stopped="gone", failed=state.failed + 1, last_cause="gone")
        decision = Decision(gone, "error", "gone")
    elif answer.status == 304:
        decision = _not_modified(state, answer, terms)
    elif answer.status is not None and 200 <= answer.status < 300 and answer.entries is not None:
        decision = _read(state, answer, answer.entries, terms)
    else:
        decision = _failed(state, answer, terms)
    return replace(decision, state=replace(decision.state, wanted_at=None, wanted_by=None))


def boosted(
    state: FeedState, until: float | None, now: float, *, why: str = "boost", gap: float = FETCH_GAP
) -> FeedState:
    """The state after a `poll.requests` record: poll now, and at the floor until `until`. Stopped stays stopped.

    Now is `gap` seconds after the last poll at the soonest. A failing feed keeps its back-off: a request must not
    hammer a server that asked us to wait.
    """
    due = state.next_at
    if due is None:
        return state
    state = replace(state, boost_until=max(state.boost_until or 0.0, until or 0.0) or None)
    if state.errors:
        return state
    soonest = now if state.last_at is None else max(now, state.last_at + gap)
    pushed = state.wanted_by if state.wanted_by in ("websub", "ping") else why
    return replace(state, next_at=min(due, soonest), wanted_at=now, wanted_by=pushed)


def spread(seed: str, at: float) -> float:
    """A repeatable number in [0, 1) per feed and moment, so that feeds do not fire together."""
    return int(digest(f"{seed}:{at:.0f}", 8), 16) / 2**32


def _interval(state: FeedState, terms: Terms, fresh: int) -> float:
    floor, policy, now = terms.floor, terms.policy, terms.now
    if state.boost_until is not None and state.boost_until > now:
        return floor
    silent = state.last_new_at is not None and now - state.last_new_at > policy.silent_after
    ceiling = policy.silent_ceiling if silent else terms.ceiling or policy.ceiling
    interval = rhythm.expected_gap(state, now, 2 * ceiling) / 2
    if fresh:
        interval /= policy.sooner
    interval = max(min(interval, ceiling), floor)
    return (
        max(interval, policy.backstop)
        if _leased(state, now) and state.unannounced < policy.unannounced_limit
        else interval
    )


def _leased(state: FeedState, now: float) -> bool:
    return state.lease_until is not None and now < state.lease_until


def _unannounced(state: FeedState, found: bool, now: float) -> int:
    if state.wanted_by == "websub" or not _leased(state, now):
        return 0
    return state.unannounced + found


def _next_at(interval: float, wish: float, terms: Terms) -> float:
    policy, now = terms.policy, terms.now
    wait = max(interval, min(wish, policy.longest))
    # never early, up to a tenth late: the promise is "at most one poll a minute"
    return now + min(wait * (1 + 0.1 * spread(terms.feed_id, now)), max(policy.longest, interval))


def _not_modified(state: FeedState, answer: Answer, terms: Terms) -> Decision:
    # RFC 9110 15.4.5: a 304 may carry a fresh validator; what it does not mention stays
    state = replace(
        state,
        etag=answer.headers.get("etag", state.etag),
        last_modified=_honest_stamp(answer.headers) or state.last_modified,
        not_modified=state.not_modified + 1,
        noise=0,
        errors=0,
    )
    interval = _interval(state, terms, 0)
    wish = freshness(answer.headers)
    return Decision(replace(state, next_at=_next_at(interval, wish, terms)), "not_modified")


def _read(state: FeedState, answer: Answer, entries: tuple[Entry, ...], terms: Terms) -> Decision:
    now = terms.now
    first = state.body_at is None
    fresh, changed = _news(state.guids, entries)
    state = _judge_validators(state, answer, entries, terms)
    state = replace(
        state,
        guids=_remember(state.guids, entries),
        rate_at=now,
        rate=rhythm.counted(state, [entries[i] for i in fresh], first, now),
        since=rhythm.since(state, entries, now),
        body_at=now,
        errors=0,
        moved_to=answer.moved_to or state.moved_to,
        fruitful=state.fruitful + bool(fresh),
        new_items=state.new_items + len(fresh),
        unannounced=_unannounced(state, bool(fresh) and not first, now),
        last_new_at=now if fresh and not first else state.last_new_at if not first else rhythm.newest(entries, now),
    )
    delays = [] if first else [now - p for i in fresh if (p := entries[i].published_at) and 0 <= now - p <= DAY]
    delay = median(delays) if delays else None
    if delay is not None:
        state = replace(state, delay=delay if state.delay is None else 0.9 * state.delay + 0.1 * delay)
    interval = _interval(state, terms, 0 if first else len(fresh))
    state = replace(state, next_at=_next_at(interval, freshness(answer.headers), terms))
    return Decision(state, "new" if fresh or changed else "unchanged", None, fresh, changed, delay)


def _failed(state: FeedState, answer: Answer, terms: Terms) -> Decision:
    policy, now = terms.policy, terms.now
    cause = answer.cause or (f"http-{answer.status}" if answer.status else "no-answer")
    base = _interval(replace(state, boost_until=None), terms, 0)
    wish = max(retry_after(answer.headers, now) or 0.0, freshness(answer.headers) if answer.status else 0.0)
    backed_off = base * 2.0 ** min(state.errors + 1, 20)
    # a server that names its wait is obeyed, not punished further
    wait = max(wish, base if retry_after(answer.headers, now) and not state.errors else backed_off)
    if answer.refused:
        wait = max(wait, policy.silent_ceiling)
    next_at = now + min(wait * (1 + 0.2 * spread(terms.feed_id, now)), policy.longest)
    state = replace(
        state,
        errors=state.errors + 1,
        failed=state.failed + 1,
        next_at=next_at,
        last_cause=cause,
        # the new home does not answer: ask at the old address next time
        moved_to=state.moved_to if state.errors < 3 else None,
    )
    return Decision(state, "refused" if answer.refused else "error", cause)


def _news(known: tuple[str, ...], entries: tuple[Entry, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    contents = dict(reversed([guid.split(":", 1) for guid in known]))
    fresh, changed = [], []
    for index, entry in enumerate(entries):
        guid, content = entry.known_as.split(":")
        if guid not in contents:
            fresh.append(index)
        elif contents[guid] != content:
            changed.append(index)
        contents[guid] = content
    return tuple(fresh), tuple(changed)


def _remember(known: tuple[str, ...], entries: tuple[Entry, ...]) -> tuple[str, ...]:
    present = {entry.known_as.split(":")[0]: entry.known_as for entry in entries}
    kept = list(present.values())[:GUIDS_BOUND]
    kept += [guid for guid in known if guid.split(":")[0] not in present][: max(0, GUIDS - len(kept))]
    return tuple(kept)


def _judge_validators(state: FeedState, answer: Answer, entries: tuple[Entry, ...], terms: Terms) -> FeedState:
    """Content is compared by the entries, not by the bytes: a build date in the body is not news."""
    policy, now = terms.policy, terms.now
    fingerprint = digest("\n".join(entry.known_as for entry in entries), 16)
    etag, last_modified = answer.headers.get("etag"), _honest_stamp(answer.headers)
    same_content = fingerprint == state.fingerprint
    pair, before = (etag, last_modified), (state.etag, state.last_modified)
    trust, trust_at, noise = state.trust, state.trust_at, state.noise
    if state.fingerprint and pair == before != (None, None) and not same_content:
        trust, trust_at = "never-new", now
    elif same_content and answer.conditional:
        noise += 1
        if noise >= policy.noise_limit:
            trust, trust_at, noise = "always-new", now, 0
    else:
        noise = 0
        if trust != "yes" and now - (trust_at or now) >= policy.distrust_for:
            trust, trust_at = "yes", None
    return replace(
        state,
        etag=etag,
        last_modified=last_modified,
        fingerprint=fingerprint,
        trust=trust,
        trust_at=trust_at,
        noise=noise,
    )


def _honest_stamp(headers: dict[str, str]) -> str | None:
    """Last-Modified as sent, or None when it is later than the response itself (RFC 9110 8.8.2.1)."""
    raw = headers.get("last-modified")
    modified, date = stamp(raw), stamp(headers.get("date"))
    return None if modified is not None and date is not None and modified > date else raw
