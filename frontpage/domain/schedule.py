"""When to poll a feed next: state + answer + now -> next state. Pure; the poller is the thin shell around it.

The manual, in the order of a feed's life:

- `plan` says what to ask for: the address (a permanent redirect is followed for good) and the validators, sent
  back byte for byte. Nothing but 304 for 23 hours, or for much longer than the feed's rhythm lets expect, makes one
  plain GET, to catch validators that never change.
- `decide` takes the answer. New items are those whose guid is not among the last 200; a known guid under another
  title or address is a changed item: it is handed on (a corrected headline is a new version) but does not count
  as publishing.
- Validators are one opaque pair of one response (`validators.py`): replaced together by a 200 that parsed, refreshed by
  a 304, dropped when they lie or are noise.
- The interval is half the expected gap between items (`rhythm.py`), clamped to floor and ceiling (editions document);
  sooner after new items, for a feed whose items are always found at the end of an interval (`lateness.py`), and for one
  whose document has nothing left that we know (`outrun.py`). Where a hub tells us of news (a living WebSub lease),
  polling is the backstop: 15 minutes.
- `boosted` takes a request to poll now (a push, a burst): at once, but 30 seconds after the last poll at the soonest.
- Retry-After (both forms, the date against the response's own Date), max-age and Expires set a lower bound; errors
  back off by doubling; 410 stops the feed and keeps its record. Nobody is unsubscribed by a 429. A stated freshness
  beyond our own ceiling is believed until the feed publishes within it, twice: then it is our ceiling. A day or more is
  not believed of a feed that shows six items a day.
- Times of ours that lie in the future are from a clock that has since been set back: they bind nothing.

Not here: fetching, parsing, budgets of hosts (a Retry-After also holds the whole host: `adapters/fetch_budget.py`).
Rejected: a fixed interval per tier (misses the morning rush), random jitter (not repeatable: the spread is a digest).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from statistics import median
from typing import Any, Final, Literal

from frontpage.domain import lateness, outrun, rhythm, validators
from frontpage.domain.freshness import freshness, retry_after
from frontpage.domain.ids import digest
from frontpage.domain.poll_policy import DAY, HOUR, Policy
from frontpage.domain.push import FETCH_GAP
from frontpage.domain.seen_items import GUIDS, GUIDS_BOUND, Entry, news, remembered

__all__ = [
    "DAY", "GUIDS", "GUIDS_BOUND", "HOUR", "Answer", "Decision", "Entry", "FeedState", "Outcome", "Plan", "Policy",
    "Terms", "Trust", "audited", "boosted", "decide", "plan", "spread",
]  # fmt: skip

Trust = Literal["yes", "always-new", "never-new"]
Outcome = Literal["new", "unchanged", "not_modified", "error", "refused"]


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms a decision is taken. `floor` and `ceiling`: the feed's own, in seconds."""

    feed_id: str
    floor: float
    policy: Policy
    now: float
    ceiling: float | None = None


@dataclass(frozen=True)
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
    #: of the last plain GET that could have had validators
    probed_at: float | None = None
    guids: Sequence[str] = ()
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
    #: of the first poll
    first_at: float | None = None
    #: see `lateness.py`: mean share of the interval that items waited, and what the interval is divided by
    late: float = lateness.USUAL
    hurry: int = 1
    #: see `outrun.py`: what the interval is divided by because a document had nothing known left
    outrun: float = 1.0
    #: when the audit last said how late it was; while it does, it is believed over the items' own times
    audited_at: float | None = None
    #: until when the last answer says to be fresh, where that is beyond our ceiling; how often that was wrong, and when
    fresh_until: float | None = None
    contradicted: int = 0
    contradicted_at: float | None = None

    def but(self, **changes: Any) -> FeedState:
        """A copy with other values of these fields; as `dataclasses.replace` in an eighth of the time, which is most of
        what a decision takes.
        """
        if not _FIELDS.issuperset(changes):
            raise TypeError(f"no such fields: {changes.keys() - _FIELDS}")
        made = object.__new__(FeedState)
        made.__dict__.update(self.__dict__)
        made.__dict__.update(changes)
        return made


_FIELDS: Final = frozenset(each.name for each in fields(FeedState))


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
    probing = state.body_at is not None and (
        not 0.0 <= now - state.body_at < policy.probe_after or _suspicious(state, state.body_at, policy, now)
    )
    if distrusted or probing or state.body_at is None:
        return Plan(target, {})
    headers = {}
    if state.etag is not None:
        headers["If-None-Match"] = state.etag
    if state.last_modified is not None:
        headers["If-Modified-Since"] = state.last_modified
    return Plan(target, headers)


def _suspicious(state: FeedState, body_at: float, policy: Policy, now: float) -> bool:
    if now - body_at < policy.suspicious_after:
        return False
    if state.probed_at is not None and 0.0 <= now - state.probed_at < policy.probe_after:
        return False  # it was honest today: it is just quiet
    enough = policy.suspicious_items
    return rhythm.expected_items(state, body_at, now, enough) >= enough


def decide(state: FeedState, answer: Answer, terms: Terms) -> Decision:
    """The whole decision for one answer. A request to poll is served by it, whatever the answer."""
    now = terms.now
    earlier = state
    state = state.but(
        polls=state.polls + 1,
        first_at=now if state.first_at is None else state.first_at,
        last_at=now,
        last_status=answer.status,
        last_cause=answer.cause,
    )
    if answer.status == 410:
        gone = replace(state, next_at=None, stopped="gone", failed=state.failed + 1, last_cause="gone")
        decision = Decision(gone, "error", "gone")
    elif answer.status == 304:
        decision = _not_modified(state, answer, terms)
    elif answer.status is not None and 200 <= answer.status < 300 and answer.entries is not None:
        decision = _read(state, answer, answer.entries, terms, earlier)
    else:
        decision = _failed(state, answer, terms)
    if decision.state.wanted_at is None and decision.state.wanted_by is None:
        return decision
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
    soonest = now if state.last_at is None or state.last_at > now else max(now, state.last_at + gap)
    pushed = state.wanted_by if state.wanted_by in ("websub", "ping") else why
    return replace(state, next_at=min(due, soonest), wanted_at=now, wanted_by=pushed)


def audited(state: FeedState, share: float, now: float) -> FeedState:
    """The state after the audit saw that items waited that share of the interval."""
    late, hurry = lateness.observed(state.late, state.hurry, share)
    return replace(state, late=late, hurry=hurry, audited_at=now)


def spread(seed: str, at: float) -> float:
    """A repeatable number in [0, 1) per feed and moment, so that feeds do not fire together."""
    return int(digest(f"{seed}:{at:.0f}", 8), 16) / 2**32


def _interval(state: FeedState, terms: Terms, fresh: int) -> float:
    floor, policy, now = terms.floor, terms.policy, terms.now
    if state.boost_until is not None and 0.0 < state.boost_until - now <= policy.longest_boost:
        # "a 30-minute feed into a 1-minute one for the next hour": the long tail's floor is for the long run
        return min(floor, policy.floor)
    silent = state.last_new_at is not None and now - state.last_new_at > policy.silent_after
    ceiling = policy.silent_ceiling if silent else terms.ceiling or policy.ceiling
    interval = min(rhythm.expected_gap(state, now, 2 * ceiling) / 2, ceiling)
    if fresh:
        interval /= policy.sooner
    interval /= max(state.hurry, state.outrun)
    interval = max(interval, floor)
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


def _planned(state: FeedState, answer: Answer, terms: Terms, fresh: int) -> FeedState:
    """With the next poll after an answer that was well, with so many new items."""
    policy, now = terms.policy, terms.now
    interval = _interval(state, terms, fresh)
    said = freshness(answer.headers)
    wish = min(said, policy.longest)
    lied = state.contradicted_at is not None and now - state.contradicted_at < policy.distrust_for
    if (state.contradicted >= policy.contradictions and lied) or _absurd(state, said, policy, now):
        wish = min(wish, policy.ceiling)
    wait = max(interval, wish)
    # never early, up to a tenth late: the promise is "at most one poll a minute"
    next_at = now + min(wait * (1 + 0.1 * spread(terms.feed_id, now)), max(policy.longest, interval))
    return state.but(next_at=next_at, fresh_until=now + said if said > policy.ceiling else None)


def _absurd(state: FeedState, said: float, policy: Policy, now: float) -> bool:
    """A day or more of freshness, stated by a feed whose own items are many a day: a file server's default, no word."""
    return said >= policy.longest and rhythm.items_a_day(state, now) >= policy.suspicious_items


def _judge_timing(state: FeedState, published: list[float | None], terms: Terms, before: float) -> FeedState:
    """What new items' times say: of our interval, where it was ours, and of the server's own word."""
    now = terms.now
    shares = [s for p in published if p is not None and (s := lateness.waited(p, before, now)) is not None]
    watched = state.audited_at is not None and 0.0 <= now - state.audited_at < DAY
    if shares and not watched and state.wanted_at is None and state.fresh_until is None:
        late, hurry = lateness.observed(state.late, state.hurry, sum(shares) / len(shares))
        state = replace(state, late=late, hurry=hurry)
    until = state.fresh_until
    if until is not None and any(before < (now if p is None else p) < until for p in published):
        state = replace(state, contradicted=state.contradicted + 1, contradicted_at=now)
    return state


def _not_modified(state: FeedState, answer: Answer, terms: Terms) -> Decision:
    # RFC 9110 15.4.5: a 304 may carry a fresh validator; what it does not mention stays
    state = state.but(
        etag=answer.headers.get("etag", state.etag),
        last_modified=validators.honest_stamp(answer.headers) or state.last_modified,
        not_modified=state.not_modified + 1,
        noise=0,
        errors=0,
        outrun=outrun.divisor(state.outrun, 0, 0, outran=False),
    )
    return Decision(_planned(state, answer, terms, 0), "not_modified")


def _read(state: FeedState, answer: Answer, entries: tuple[Entry, ...], terms: Terms, earlier: FeedState) -> Decision:
    now, before = terms.now, earlier.last_at
    first = state.body_at is None
    fresh, changed = news(state.guids, entries)
    state = validators.judged(state, answer, entries, terms)
    if fresh and not first and before is not None:
        state = _judge_timing(state, [entries[i].published_at for i in fresh], terms, before)
    outran = bool(fresh) and outrun.planned(earlier, now) and outrun.nothing_known(earlier.guids, entries)
    state = state.but(
        guids=remembered(state.guids, entries),
        rate_at=now,
        rate=rhythm.counted(state, [entries[i] for i in fresh], first, now),
        since=rhythm.since(state, entries, now),
        body_at=now,
        probed_at=state.probed_at if first or answer.conditional else now,
        errors=0,
        moved_to=answer.moved_to or state.moved_to,
        fruitful=state.fruitful + bool(fresh),
        new_items=state.new_items + len(fresh),
        unannounced=_unannounced(state, bool(fresh) and not first, now),
        outrun=outrun.divisor(state.outrun, len(fresh), len(entries), outran=outran),
        last_new_at=now if fresh and not first else state.last_new_at if not first else rhythm.newest(entries, now),
    )
    delays = [] if first else [now - p for i in fresh if (p := entries[i].published_at) and 0 <= now - p <= DAY]
    delay = median(delays) if delays else None
    if delay is not None:
        state = replace(state, delay=delay if state.delay is None else 0.9 * state.delay + 0.1 * delay)
    state = _planned(state, answer, terms, 0 if first else len(fresh))
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
