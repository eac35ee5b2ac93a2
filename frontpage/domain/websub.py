"""One WebSub subscription: state + event + now -> next state, and whether a delivery is authentic. Pure.

To the W3C Recommendation "WebSub" (23 January 2018), sections in brackets. The manual, in the order of its life:

- `new` makes a subscription whose callback nobody can guess: its id is 192 bits from the shell, part of the address.
- `ask` turns a due subscription into one request to the hub [5.1]: to subscribe, to renew, or to unsubscribe.
- `verified` answers the hub's question whether we meant it [5.3]: only for the topic and the mode that we asked for,
  and only while our request is open. Everything else is None, which the route turns into 404.
- A lease is finite: at most 10 days whatever the hub says, renewed when a third of it is left, so that a hub that is
  down for days loses nothing. A failed request is repeated with doubling waits that fit before the lease's end.
- `denied` may come at any time [5.2]: the lease is over, ordinary polling takes over, we ask again after a day or more.
- `BodyCheck` verifies X-Hub-Signature [7.1] over a body that passes by in chunks and is not kept.

Not here: storing (`adapters/push_rows.py`), asking (`streaming/ingest/subscriber.py`), answering
(`serving/routes/push.py`), which feed names which hub and what follows from a notification (`domain/push.py`).
Rejected: forgetting an open request once it was verified. A hub whose verification answer got lost asks again; a 404
would end what we believe to be alive. Hence the few minutes in which the same question is answered again.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, replace
from typing import Final, Literal

MINUTE: Final = 60.0
DAY: Final = 86_400.0
#: What we ask for and the most that we believe, seconds. Ten days is what the large public hubs grant.
LEASE: Final = 10 * DAY
#: Renewed when this share of the lease is left.
LEFT_TO_RENEW: Final = 1 / 3
#: A request stays open for verification so long; hubs may take their time [5.3], but not for ever.
OPEN_FOR: Final = DAY
#: After a verification the same question is answered again for so long.
REPEAT_FOR: Final = 10 * MINUTE
#: Waits between requests that nothing came of: doubling, so that a dead hub costs a request a day.
FIRST_RETRY: Final = 5 * MINUTE
LONGEST_RETRY: Final = DAY
#: A denial is the publisher's or the hub's decision: asked again after a day, doubling to 16.
LONGEST_DENIAL: Final = 16 * DAY
#: So many requests to unsubscribe; then the lease runs out by itself.
FAREWELLS: Final = 3

Mode = Literal["subscribe", "unsubscribe"]
_SIGNATURE: Final = re.compile(r"(sha1|sha256|sha384|sha512)=([0-9a-fA-F]{40,128})")


@dataclass(frozen=True, slots=True)
class Subscription:
    """One callback at one hub for one feed. Times are virtual seconds; `next_at` None means finished: forget it.

    `id` and `secret` are unguessable. open: a request is out and not yet verified. tries: requests since the last
    verification. cause: why the last request or subscription failed, for operators.
    """

    id: str
    feed_id: str
    hub: str
    topic: str
    secret: str
    mode: Mode = "subscribe"
    open: bool = False
    asked_at: float | None = None
    verified_at: float | None = None
    lease_until: float | None = None
    next_at: float | None = 0.0
    tries: int = 0
    denials: int = 0
    cause: str = ""

    def living(self, now: float) -> bool:
        """Whether the hub delivers to us, as far as we know."""
        return self.mode == "subscribe" and self.lease_until is not None and now < self.lease_until

    def due(self, now: float) -> bool:
        """Whether a request is to be made."""
        return self.next_at is not None and self.next_at <= now


def new(id: str, secret: str, feed_id: str, *, hub: str, topic: str, now: float) -> Subscription:
    """A subscription to ask for at once. `id` at least 128 bits, `secret` below 200 bytes [5.1]."""
    if len(id) < 22 or not 22 <= len(secret) < 200:
        raise ValueError("id and secret of a subscription must be unguessable")
    return Subscription(id, feed_id, hub, topic, secret, next_at=now)


def ask(state: Subscription, now: float) -> Subscription:
    """The state once a request is on its way: store it before sending, because the hub may verify before it answers."""
    wait = min(FIRST_RETRY * 2.0 ** min(state.tries, 20), LONGEST_RETRY)
    if state.living(now) and state.lease_until is not None:
        wait = min(wait, max(MINUTE, (state.lease_until - now) / 4))
    if state.mode == "unsubscribe" and state.tries + 1 >= FAREWELLS:
        return replace(state, next_at=None)
    return replace(state, open=True, asked_at=now, tries=state.tries + 1, next_at=now + wait)


def request(state: Subscription, callback: str) -> dict[str, str]:
    """The form of the request [5.1]. The secret goes out over http too where a hub has no https: a forged delivery
    costs one conditional request, and without a secret anyone could forge one.
    """
    form = {"hub.callback": callback, "hub.mode": state.mode, "hub.topic": state.topic}
    if state.mode == "subscribe":
        form |= {"hub.lease_seconds": f"{LEASE:.0f}", "hub.secret": state.secret}
    return form


def failed(
    state: Subscription, cause: str, now: float, *, final: bool, retry_after: float | None = None
) -> Subscription:
    """The request was not accepted. `final`: the hub said no (4xx), so nothing is open; else it may still verify."""
    later = state.next_at
    if later is not None and retry_after is not None:
        later = max(later, now + min(retry_after, LONGEST_RETRY))
    return replace(state, open=state.open and not final, next_at=later, cause=cause)


def verified(state: Subscription, mode: str, topic: str, lease: float | None, now: float) -> Subscription | None:
    """The state after the hub's verification; None when we asked for no such thing.

    lease: seconds as the hub states them; None (older hubs) is the one we asked for. Below a second it is no lease.
    """
    if mode != state.mode or not _same(topic, state.topic) or not _is_open(state, now):
        return None
    if mode == "unsubscribe":
        return replace(state, open=False, lease_until=None, next_at=None)
    granted = LEASE if lease is None else min(lease, LEASE)
    if not granted >= 1.0:
        return None
    return replace(
        state,
        open=False,
        verified_at=now if state.open or state.verified_at is None else state.verified_at,
        lease_until=now + granted,
        next_at=now + max(granted * (1 - LEFT_TO_RENEW), MINUTE),
        tries=0,
        denials=0,
        cause="",
    )


def denied(state: Subscription, topic: str, reason: str, now: float) -> Subscription | None:
    """The state after the hub's denial [5.2]; None when it speaks of another topic."""
    if not _same(topic, state.topic):
        return None
    if state.mode == "unsubscribe":
        return replace(state, open=False, lease_until=None, next_at=None)
    wait = min(DAY * 2.0 ** min(state.denials, 10), LONGEST_DENIAL)
    return replace(
        state,
        open=False,
        lease_until=None,
        next_at=now + wait,
        tries=0,
        denials=state.denials + 1,
        cause=f"denied: {reason[:200]}" if reason else "denied",
    )


def leave(state: Subscription, now: float) -> Subscription:
    """We want it no longer: unsubscribe now. Deliveries that still come are told so."""
    if state.mode == "unsubscribe":
        return state
    if not state.living(now) and not state.open:
        return replace(state, mode="unsubscribe", lease_until=None, next_at=None)  # the hub knows nothing of us
    return replace(state, mode="unsubscribe", open=False, lease_until=None, next_at=now, tries=0)


class BodyCheck:
    """Compares a delivery with its X-Hub-Signature in constant time, chunk by chunk; bodies are never kept."""

    def __init__(self, secret: str, header: str | None) -> None:
        found = _SIGNATURE.fullmatch(header.strip()) if header is not None else None
        self._claimed = bytes.fromhex(found[2]) if found is not None and len(found[2]) % 2 == 0 else b""
        # without a readable signature the work is the same, and nothing matches
        self._mac = hmac.new(secret.encode(), digestmod=found[1] if found is not None else "sha256")

    def update(self, chunk: bytes) -> None:
        """The next bytes of the body."""
        self._mac.update(chunk)

    def matches(self) -> bool:
        """Whether the body so far is what the header signs."""
        return hmac.compare_digest(self._mac.digest(), self._claimed)


def sign(secret: str, body: bytes, method: str = "sha256") -> str:
    """X-Hub-Signature of a body, as a hub makes it."""
    return f"{method}={hmac.new(secret.encode(), body, method).hexdigest()}"


def _is_open(state: Subscription, now: float) -> bool:
    if state.open:
        return state.asked_at is not None and now - state.asked_at <= OPEN_FOR
    return state.verified_at is not None and now - state.verified_at <= REPEAT_FOR and state.lease_until is not None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
