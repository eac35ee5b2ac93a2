"""What a push notification means: which hub a feed names, whether a ping is a publisher's, when a fetch follows. Pure.

A notification never carries content that we use: it says "look now", and the most that a forged or repeated one could
cost is one conditional request. Still, each is authenticated, and at most one fetch per feed and 30 seconds follows.
That limit is kept where fetches are planned (`schedule.boosted`), and drops no notification: one that comes too soon
is served by a fetch at the end of the 30 seconds. Merging notifications before they reach the poller was rejected:
only the poller knows whether the fetch that they would share has begun.

Not here: subscriptions (`domain/websub.py`).
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

#: "at most one every 30 seconds" (editions document), per feed.
FETCH_GAP: Final = 30.0
#: How far a ping's time may be from ours: clocks of small sites are off by minutes, not hours.
PING_SKEW: Final = 300.0
#: Characters of an address in a ping or an advertisement; the longest known feed address has under 1,000.
ADDRESS_LIMIT: Final = 2_048
_LINK: Final = re.compile(r'<([^<>]{1,2048})>((?:\s*;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^\s",;]+))?)*)')
_REL: Final = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Advert:
    """A feed's offer to be subscribed to: the hub's address and the topic's, both absolute."""

    hub: str
    topic: str


def advertised(link_header: str | None, hub: str | None, topic: str | None, url: str) -> Advert | None:
    """The offer of one response, headers before document (WebSub, section 4); None without a hub on the web.

    hub, topic: `rel=hub` and `rel=self` of the document. A feed that names no topic is its own: `url`.
    """
    links = _links(link_header or "", url)
    found = links.get("hub") or hub
    subject = links.get("self") or topic or url
    if not found or not all(
        a.startswith(("http://", "https://")) and len(a) <= ADDRESS_LIMIT and a.isprintable() for a in (found, subject)
    ):
        return None
    return Advert(found, subject)


def ping_signature(key: str, feed: str, at: str) -> str:
    """Hex HMAC-SHA256 with the publisher's key over the time as sent, a line feed, and the feed's address."""
    return hmac.new(key.encode(), f"{at}\n{feed}".encode("utf-8", "replace"), "sha256").hexdigest()


def ping_refusal(key: str, feed: str, at: str, signature: str, *, last: float | None, now: float) -> str | None:
    """Why a ping is refused (`signature`, `time`, `replay`), None for a genuine one.

    last: the time of the feed's latest ping. Stamps grow: whoever repeats a ping, or sends an older one, is refused;
    the later ping has covered it.
    """
    expected = ping_signature(key, feed, at)
    if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
        return "signature"
    stamp = ping_time(at)
    if stamp is None or abs(stamp - now) > PING_SKEW:
        return "time"
    return "replay" if last is not None and stamp <= last else None


def ping_time(at: str) -> float | None:
    """Seconds since the epoch, whole or decimal; None for anything else."""
    return float(at) if re.fullmatch(r"\d{1,12}(\.\d{1,6})?", at, re.ASCII) else None


def _links(header: str, base: str) -> dict[str, str]:
    """{relation: address}, the first of each, of an HTTP Link header (RFC 8288)."""
    found: dict[str, str] = {}
    for target, params in _LINK.findall(header[:8_192]):
        rel = _REL.search(params)
        try:
            address = urljoin(base, target.strip())
        except ValueError:
            continue
        for relation in ((rel[1] or rel[2] or "").lower().split()) if rel else ():
            found.setdefault(relation, address)
    return found
