"""The push receiver: hubs and publishers tell us that there is news. The only routes that the outside world writes to.

A notification becomes one `PollRequest` on `poll.requests` (the poller fetches a feed at most once in 30 seconds);
nothing of what is delivered is read, parsed or kept. A delivery's body passes through the signature check in chunks.
The answer comes after a look-up or two in Redis, and says nothing that the sender did not know.

Answers, to the W3C text: a verification that we did not ask for is 404; a delivery that does not verify is answered
like one that does and ignored; 410 tells a hub that there is no such subscription, so that it stops.
"""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from collections.abc import Callable
from typing import Annotated, Final, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, Response
from starlette.requests import ClientDisconnect

from frontpage.adapters.feed_rows import FeedRows
from frontpage.adapters.push_rows import PushRows
from frontpage.contracts.events import PollRequest
from frontpage.contracts.topics import POLL_REQUESTS
from frontpage.domain import websub
from frontpage.domain.ids import feed_id
from frontpage.domain.push import ADDRESS_LIMIT, ping_refusal, ping_time
from frontpage.domain.websub import BodyCheck, Subscription
from frontpage.errors import NotFound
from serving.problems import ProblemError
from serving.state import Serving, serving_of

log = logging.getLogger(__name__)
router = APIRouter(prefix="/push", tags=["push"])
Parts = Annotated[Serving, Depends(serving_of)]

#: As long as ids are (24 random bytes in base64); anything else is not looked up.
_ID: Final = re.compile(r"[A-Za-z0-9_-]{32}\Z")
#: Bytes of a delivery: the fetch tier's limit for feeds. A fat ping of a whole feed is legal, so the limit is generous.
DELIVERY_LIMIT: Final = 8 << 20
#: Real seconds for a delivery to arrive: one that drips holds a connection.
DELIVERY_TIME: Final = 10.0
#: Bytes of a ping: an address, a time and a signature.
PING_LIMIT: Final = 4_096
#: Characters that we echo to a hub. The large hubs' challenges have under 200.
CHALLENGE_LIMIT: Final = 1_024
NO_STORE: Final = {"Cache-Control": "no-store"}


@router.get("/websub/{subscription}", response_class=PlainTextResponse)
def verify(request: Request, serving: Parts, subscription: str) -> Response:
    """A hub asks whether we meant it (echo the challenge) or says that it will not (`hub.mode=denied`)."""
    query = request.query_params
    asked = {name: query.getlist(f"hub.{name}") for name in ("mode", "topic", "challenge", "lease_seconds", "reason")}
    if not _ID.match(subscription) or any(len(values) > 1 for values in asked.values()):
        raise NotFound("no such subscription")
    mode, topic, challenge, lease, reason = (values[0] if values else "" for values in asked.values())
    now, rows = serving.clock.now(), PushRows(serving.store)
    if mode == "denied":
        changed = rows.change(subscription, lambda state: websub.denied(state, topic, reason, now))
        challenge = ""
    else:
        seconds = _lease(lease)
        if not 0 < len(challenge) <= CHALLENGE_LIMIT or seconds == 0:
            raise NotFound("no such subscription")
        changed = rows.change(subscription, lambda state: websub.verified(state, mode, topic, seconds, now))
    if changed is None:
        serving.metrics.push.labels("not-asked").inc()
        raise NotFound("no such subscription")
    if changed.mode == "subscribe":
        FeedRows(serving.store).lease(changed.feed_id, changed.lease_until)
    serving.metrics.push.labels("denied" if mode == "denied" else "verified").inc()
    return PlainTextResponse(challenge, headers=NO_STORE)


@router.post("/websub/{subscription}", status_code=202, response_class=Response)
async def deliver(request: Request, serving: Parts, subscription: str) -> Response:
    """A hub delivers. The content is only hashed; a matching signature makes the poller look at the feed itself."""
    wanted = await run_in_threadpool(_wanted, serving, subscription)
    if wanted is None:
        serving.metrics.push.labels("gone").inc()
        return Response(status_code=410, headers=NO_STORE)
    check = BodyCheck(wanted.secret, request.headers.get("x-hub-signature"))
    await _read(request, DELIVERY_LIMIT, check.update)
    if not check.matches():
        serving.metrics.push.labels("forged").inc()
        log.warning("a delivery for feed %s does not verify: ignored", wanted.feed_id)
    else:
        _notify(serving, wanted.feed_id, "websub")
    return Response(status_code=202, headers=NO_STORE)


@router.post("/ping", status_code=202, response_class=Response, openapi_extra={
    "requestBody": {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": {
        "type": "object", "required": ["feed", "at", "signature"],
        "properties": {
            "feed": {"type": "string", "description": "the feed's address as registered"},
            "at": {"type": "string", "description": "seconds since 1970 UTC; each ping later than the one before"},
            "signature": {"type": "string", "description": "hex HMAC-SHA256(key, at + line feed + feed)"},
        },
    }}}},
})  # fmt: skip
async def ping(request: Request, serving: Parts) -> Response:
    """A publisher says that its feed has news: `feed`, `at` and `signature` as a form, nothing else."""
    body = bytearray()
    await _read(request, PING_LIMIT, body.extend)
    try:
        form = parse_qs(body.decode("utf-8"), strict_parsing=True, max_num_fields=8)
    except ValueError:
        form = {}
    feed, at, signature = (form.get(name, [""])[-1] for name in ("feed", "at", "signature"))
    if not feed or not at or not signature or len(feed) > ADDRESS_LIMIT:
        raise ProblemError(400, "malformed-ping", "send feed, at and signature as a form")
    await run_in_threadpool(_ping, serving, feed, at, signature)
    return Response(status_code=202, headers=NO_STORE)


def _wanted(serving: Serving, id: str) -> Subscription | None:
    stored = PushRows(serving.store).get(id) if _ID.match(id) else None
    return stored.subscription if stored is not None and stored.subscription.mode == "subscribe" else None


def _ping(serving: Serving, feed: str, at: str, signature: str) -> None:
    rows = PushRows(serving.store)
    id, stamp = feed_id(feed), ping_time(at)
    row = FeedRows(serving.store).get(id)
    key = rows.ping_key(row.source.publisher_id) if row is not None else None
    # for an unknown feed the same work with a key that nobody has, and the same answer
    key = key or uuid.uuid4().hex
    why = ping_refusal(key, feed, at, signature, last=rows.last_ping(id), now=serving.clock.now())
    if why is None and (stamp is None or not rows.take_ping(id, stamp)):
        why = "replay"
    if why is not None:
        serving.metrics.push.labels(f"ping-{why}").inc()
        raise ProblemError(403, "ping-refused", "unknown feed, wrong key, or a time that is old or not ours")
    _notify(serving, id, "ping")


def _notify(serving: Serving, feed: str, why: Literal["websub", "ping"]) -> None:
    """One request to poll. Raises ProblemError 503 when it cannot be taken: whoever told us tells us again."""
    request = PollRequest(request_id=uuid.uuid4().hex, feed_id=feed, why=why, at=serving.clock.now())
    if not serving.sender.offer(POLL_REQUESTS, feed, request):
        raise ProblemError(503, "busy", "try again", headers={"Retry-After": "10"})
    serving.metrics.push.labels(why).inc()


async def _read(request: Request, limit: int, take: Callable[[bytes], None]) -> None:
    """Hand the body to `take` in chunks. Raises ProblemError 413, 408 or 400."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced[:12]) > limit:
        raise ProblemError(413, "too-large", f"at most {limit} bytes", headers={"Connection": "close"})
    size = 0
    try:
        async with asyncio.timeout(DELIVERY_TIME):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise ProblemError(413, "too-large", f"at most {limit} bytes", headers={"Connection": "close"})
                take(chunk)
    except TimeoutError:
        raise ProblemError(408, "too-slow", "the body did not arrive in time") from None
    except ClientDisconnect:
        raise ProblemError(400, "cut-off", "the body was cut off") from None


def _lease(text: str) -> float | None:
    """Seconds, None where the hub states none; 0 for what is no number."""
    if not text:
        return None
    return float(text) if re.fullmatch(r"\d{1,12}", text, re.ASCII) else 0
