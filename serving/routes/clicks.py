"""`/r/{token}` and thumbnails: the two addresses that every card carries."""

from __future__ import annotations

import re
import uuid
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.reader_events import Click
from frontpage.contracts.topics import READER_CLICKS
from frontpage.contracts.views import THUMB
from frontpage.domain.ids import digest
from frontpage.domain.tokens import ClickToken, read_click
from frontpage.errors import NotFound, UnreadableInput
from serving.problems import ProblemError
from serving.shared import refuse_credentials
from serving.state import Serving, serving_of

router = APIRouter(tags=["clicks"])
Parts = Annotated[Serving, Depends(serving_of)]
#: Programs that follow links without a reader behind them.
BOTS: Final = re.compile(r"bot\b|bot/|crawl|spider|slurp|facebookexternalhit|preview", re.I)
THUMB_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,64}\Z")


@router.head("/r/{token}", include_in_schema=False)
@router.get("/r/{token}", status_code=302, response_class=Response)
async def redirect(request: Request, serving: Parts, token: str) -> Response:
    """302 to the publisher. The token carries the address: nothing is looked up, the click is queued, not awaited."""
    try:
        click = read_click(serving.ring, token)
    except UnreadableInput as error:
        serving.metrics.clicks.labels("refused").inc()
        raise ProblemError(404, "bad-token", "this link is not one of ours") from error
    why_not = _why_not(request, click, serving.clock.now())
    serving.metrics.clicks.labels(why_not or "counted").inc()
    if request.method == "GET":
        event = Click.model_validate(
            {
                # a personal click is one impression's: opening it twice is the same click
                "click_id": digest(token, 32) if click.impression_id else uuid.uuid4().hex,
                "at": serving.clock.now(),
                "article_id": click.article_id,
                "story_id": click.story_id,
                "publisher_id": click.publisher_id,
                "url": click.url,
                "surface": click.surface,
                "section": click.section,
                "position": click.position,
                "edition": click.edition,
                "reader": click.reader,
                "impression_id": click.impression_id,
                "counted": why_not is None,
                "why_not": why_not,
            }
        )
        serving.sender.offer(READER_CLICKS, click.article_id, event)
    headers = {"Location": _ascii(click.url), "Cache-Control": "private, no-store", "Referrer-Policy": "origin"}
    return Response(status_code=302, headers=headers)


@router.get("/thumb/{thumb_id}", response_class=Response, dependencies=[Depends(refuse_credentials)])
def thumb(serving: Parts, thumb_id: str) -> Response:
    """A resized picture, fetched by us once; its id changes with its content."""
    if not THUMB_ID.match(thumb_id):
        raise NotFound("no such picture")
    with store_errors():
        data = serving.store.get(THUMB.key(thumb=thumb_id))
    if data is None:
        raise NotFound("no such picture")
    headers = {"Cache-Control": "public, max-age=86400, s-maxage=604800, immutable", "ETag": f'"{thumb_id}"'}
    return Response(bytes(data), 200, headers, "image/jpeg")  # type: ignore[arg-type]


def _why_not(request: Request, click: ClickToken, now: float) -> str | None:
    """Why this use of a link is no signal; None when it is one."""
    if not click.counts_at(now):
        return "old-token"
    if request.method == "HEAD":
        return "head"
    purpose = request.headers.get("sec-purpose", "") + request.headers.get("purpose", "")
    if "prefetch" in purpose.lower():
        return "prefetch"
    return "bot" if BOTS.search(request.headers.get("user-agent", "")) else None


def _ascii(url: str) -> str:
    """A header is ASCII: everything else is percent-encoded as UTF-8, which is what the address means."""
    return "".join(c if 32 < ord(c) < 127 else "".join(f"%{b:02X}" for b in c.encode("utf-8", "replace")) for c in url)
