"""The reader's own API: For you, settings, follows, hides, history, events. Bearer token; never cached."""

from __future__ import annotations

import uuid
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from frontpage.contracts.api import (
    PRINTABLE,
    Accepted,
    EventsRequest,
    Feed,
    FollowKind,
    HideRequest,
    Me,
    MePatch,
)
from frontpage.contracts.reader_events import ReaderEvent
from frontpage.contracts.topics import READER_EVENTS
from frontpage.domain.editions import EDITIONS
from frontpage.errors import NotFound, ServiceUnavailable
from serving.readers import me
from serving.shared import PRIVATE
from serving.state import Serving, serving_of

Parts = Annotated[Serving, Depends(serving_of)]


def no_store(response: Response) -> None:
    """Dependency: no cache keeps a private answer."""
    response.headers["Cache-Control"] = PRIVATE


def signed_in(serving: Parts, authorization: Annotated[str | None, Header()] = None) -> str:
    """Dependency: the reader's hash, or 401."""
    return serving.authority.bearer(authorization)


router = APIRouter(prefix="/v1", tags=["readers"], dependencies=[Depends(no_store)])
Reader = Annotated[str, Depends(signed_in)]
Target = Annotated[str, Path(min_length=1, max_length=128, pattern=PRINTABLE)]


@router.get("/feed")
async def feed(
    serving: Parts,
    reader: Reader,
    edition: str | None = None,
    cursor: Annotated[str | None, Query(max_length=1_000)] = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
) -> Feed:
    """For you: 20 stories at a time out of a ranked list that stays as it is while you page through it."""
    if edition is not None and edition not in EDITIONS:
        raise NotFound("no such edition, see /v1/editions")
    return await serving.for_you.feed(reader, edition, cursor, limit)


@router.get("/me")
def read_me(serving: Parts, reader: Reader) -> Me:
    """Settings, follows and hides."""
    return me(serving.readers.load(reader))


@router.patch("/me")
def change_me(serving: Parts, reader: Reader, patch: MePatch) -> Me:
    """Edition, place, alpha of the diversity rule, subscriptions."""
    serving.readers.patch(reader, patch)
    return me(serving.readers.load(reader))


@router.delete("/me", status_code=204, response_class=Response)
def delete_me(serving: Parts, reader: Reader) -> Response:
    """Forget everything: here at once, in tables and their history with the next deletion run."""
    serving.readers.delete(reader)
    return _done()


@router.put("/me/follows/{kind}/{target}", status_code=204, response_class=Response)
def follow(serving: Parts, reader: Reader, kind: FollowKind, target: Target) -> Response:
    """Follow a topic, entity or source; the next list reflects it."""
    serving.readers.switch(reader, "follow", kind, target, True)
    return _done()


@router.delete("/me/follows/{kind}/{target}", status_code=204, response_class=Response)
def unfollow(serving: Parts, reader: Reader, kind: FollowKind, target: Target) -> Response:
    """Stop following; harmless when nothing was followed."""
    serving.readers.switch(reader, "follow", kind, target, False)
    return _done()


@router.post("/me/hide", status_code=204, response_class=Response)
def hide(serving: Parts, reader: Reader, body: HideRequest) -> Response:
    """Hide a source, a story or a topic ("fewer like this")."""
    serving.readers.switch(reader, "hide", *body.target, True)
    return _done()


@router.delete("/me/hide", status_code=204, response_class=Response)
def unhide(
    serving: Parts, reader: Reader, request: Request, body: Annotated[HideRequest | None, Body()] = None
) -> Response:
    """Show it again. The target stands in the body or, for clients that send none with DELETE, in the query."""
    if body is None:
        try:
            body = HideRequest.model_validate(dict(request.query_params))
        except ValidationError as error:
            raise RequestValidationError(error.errors()) from None
    serving.readers.switch(reader, "hide", *body.target, False)
    return _done()


@router.post("/me/history/{action}", status_code=204, response_class=Response)
def history(serving: Parts, reader: Reader, action: str) -> Response:
    """`pause` stops remembering what you read, `resume` starts again."""
    if action not in ("pause", "resume"):
        raise NotFound("pause or resume")
    serving.readers.pause(reader, action == "pause")
    return _done()


@router.post("/events", status_code=202)
def events(serving: Parts, reader: Reader, body: EventsRequest) -> Accepted:
    """Impressions, reads and dwell seen by the app. Nothing is kept while history is paused."""
    try:
        paused = serving.readers.load(reader).paused
    except ServiceUnavailable:
        # we cannot know that the reader has not paused: then nothing is recorded
        paused = True
    if paused:
        return Accepted(accepted=0, paused=True)
    now = serving.clock.now()
    accepted = 0
    for seen in body.events:
        fields = {
            **seen.model_dump(),
            "event_id": uuid.uuid4().hex,
            "at": now,
            "edition": body.edition,
            "reader": reader,
        }
        accepted += serving.sender.offer(
            READER_EVENTS, seen.article_id or seen.story_id, ReaderEvent.model_validate(fields)
        )
    return Accepted(accepted=accepted)


def _done() -> Response:
    return Response(status_code=204, headers={"Cache-Control": PRIVATE})
