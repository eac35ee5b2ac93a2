"""The sample world's readers at work: they read For you over the real API and click what they like.

Everything goes the way of a real reader: bearer token, `GET /v1/feed`, `GET /r/{token}` without following it, `POST
/v1/events` with the reading time. Taste and attention are the sample world's (`data_samples/readers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx

from data_samples.model import Impression, Reader
from data_samples.readers import clicks_on
from frontpage.settings import Settings
from frontpage_cli.system.tokens import development_token


@dataclass
class Tally:
    """What the readers did; `failed` counts requests that were not answered as they should be."""

    sessions: int = 0
    shown: int = 0
    clicks: int = 0
    failed: int = 0


def read_and_click(
    settings: Settings, base: str, readers: Sequence[Reader], *, seed: int, say: Callable[[Tally], None]
) -> Tally:
    """One session of each reader against the API at `base`; never raises for answers of the API."""
    rng = Random(f"{seed}:sessions")
    tally = Tally()
    with httpx.Client(base_url=base, timeout=15.0, follow_redirects=False) as http:
        for reader in readers:
            token = development_token(settings, reader.id, 1.0)
            try:
                _session(http, reader, {"Authorization": f"Bearer {token}"}, rng, tally)
            except (httpx.HTTPError, KeyError, ValueError):
                tally.failed += 1
            say(tally)
    return tally


def feed(settings: Settings, base: str, reader: Reader) -> list[dict[str, Any]]:
    """The cards of a reader's For you as it is now."""
    token = development_token(settings, reader.id, 1.0)
    answer = httpx.get(
        f"{base}/v1/feed",
        params={"edition": reader.edition, "limit": 20},
        headers={"Authorization": f"Bearer {token}"},
        timeout=15.0,
    )
    answer.raise_for_status()
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def _session(http: httpx.Client, reader: Reader, headers: dict[str, str], rng: Random, tally: Tally) -> None:
    answer = http.get("/v1/feed", params={"edition": reader.edition, "limit": 20}, headers=headers)
    answer.raise_for_status()
    cards = {card["top_article"]["article_id"]: card for card in answer.json()["items"]}
    tally.sessions += 1
    tally.shown += len(cards)
    shown = [
        Impression(0.0, reader.id, article, card["top_article"]["publisher_id"], _section(card, reader), position, None)
        for position, (article, card) in enumerate(cards.items())
    ]
    for click in clicks_on(reader, shown, rng):
        card = cards[click.article_id]
        followed = http.get(card["top_article"]["click_url"])
        if followed.status_code != httpx.codes.FOUND:
            tally.failed += 1
            continue
        tally.clicks += 1
        event = {
            "kind": "dwell",
            "story_id": card["story_id"],
            "article_id": click.article_id,
            "publisher_id": click.publisher_id,
            "surface": "feed",
            "impression_id": card.get("impression_id"),
            "rank": click.position,
            "dwell_seconds": min(click.dwell, 3_600.0),
        }
        sent = http.post("/v1/events", json={"edition": reader.edition, "events": [event]}, headers=headers)
        if sent.is_error:
            tally.failed += 1


def _section(card: dict[str, Any], reader: Reader) -> str:
    """The section of the card that the reader likes best."""
    sections = card.get("sections") or ["top"]
    return str(max(sections, key=lambda name: reader.sections.get(name, 0.0)))
