"""ETag and Last-Modified of a feed: kept as one opaque pair of one response, and dropped while they are no use. Pure.

They lie when another content comes under the same pair (`never-new`), and are noise when the same content comes under a
new pair again and again (`always-new`). Dropped ones get another chance after a week. Not here: when they are
sent (`schedule.plan`), and the plain GET a day that finds the first kind of lie.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from frontpage.domain.freshness import stamp
from frontpage.domain.ids import digest

if TYPE_CHECKING:
    from frontpage.domain.schedule import Answer, Entry, FeedState, Terms


def judged(state: FeedState, answer: Answer, entries: tuple[Entry, ...], terms: Terms) -> FeedState:
    """The state with the validators of a 200 that parsed, and whether they deserve to be sent.

    Content is compared by the entries, not by the bytes: a build date in the body is not news.
    """
    policy, now = terms.policy, terms.now
    fingerprint = digest("\n".join(entry.known_as for entry in entries), 16)
    etag, last_modified = answer.headers.get("etag"), honest_stamp(answer.headers)
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


def honest_stamp(headers: dict[str, str]) -> str | None:
    """Last-Modified as sent, or None when it is later than the response itself (RFC 9110 8.8.2.1)."""
    raw = headers.get("last-modified")
    modified, date = stamp(raw), stamp(headers.get("date"))
    return None if modified is not None and date is not None and modified > date else raw
