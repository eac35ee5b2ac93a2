"""Every kind of problem that the API answers with, and what it tells the caller: the end of each problem's `type`.

Drawn on `/docs`; `/docs/problems#KIND`, which problems name, leads there. Not here: how errors become problems
(`problems.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KINDS: Final[Mapping[str, str]] = {
    "bad-cursor": "400. The cursor is damaged, or belongs to another list or reader: start without it.",
    "cut-off": "400. The body ended early: send it again.",
    "malformed-ping": "400. A ping is a form with feed, at and signature.",
    "credentials-on-shared-route": "400. Shared addresses refuse tokens and cookies: ask without them.",
    "sign-in-required": "401. A private address: send Authorization: Bearer TOKEN.",
    "bad-token": "401, or 404 for a click link. The token does not verify.",
    "token-expired": "401. Sign in again.",
    "other-site": "403. The form came from another site.",
    "not-an-operator": "403. Operations pages want a token with the claim role: operator.",
    "decided": "400. Somebody has decided this merge the other way.",
    "ping-refused": "403. The feed is unknown, the key is wrong, or the time is old or not ours.",
    "not-found": "404. There is no such page, story, edition, section or reader.",
    "method-not-allowed": "405. The address exists, and not with this method.",
    "too-slow": "408. The body took too long.",
    "too-many": "409. A reader's follows and hides have reached their limit.",
    "cursor-expired": "410. The list is older than five minutes: start again.",
    "too-large": "413. The body is larger than the address takes.",
    "invalid-request": "422. The list errors names each field that is not of the documented form.",
    "too-many-requests": "429. Slow down; Retry-After says for how long.",
    "internal-error": "500. Something unforeseen, logged here.",
    "busy": "503. Nothing was taken in: send it again.",
    "degraded": "503. A part that this answer needs is away: try again after Retry-After.",
    "no-fresh-page": "503. No page is younger than an hour: ranking has not begun, or has stopped.",
    "service-unavailable": "503. A store does not answer: try again after Retry-After.",
}
