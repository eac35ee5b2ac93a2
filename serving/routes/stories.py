"""Full Coverage, reports of readers, and what a publisher may see of itself."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from frontpage.contracts.api import PublisherDashboard, ReportRequest, Story
from frontpage.contracts.reader_events import ReaderEvent
from frontpage.contracts.topics import READER_EVENTS
from frontpage.errors import NotFound
from serving.render import json_body
from serving.shared import LISTS, STORIES, answer, refuse_credentials
from serving.state import Serving, serving_of
from serving.stories import Moved

router = APIRouter(prefix="/v1", tags=["stories"])
Parts = Annotated[Serving, Depends(serving_of)]
RULES: Final = [
    "Original reporting is rewarded; copies count once, for their original.",
    "Close calls between publishers rotate every hour.",
    "No publisher gets more than a tenth of an edition's headlines in a day.",
    "Only the time at which an article was first seen counts, never a claimed date.",
]


def moved(survivor: str, prefix: str) -> Response:
    """301 to the story that a merged one became part of; as cacheable as the story itself."""
    return RedirectResponse(f"{prefix}/{survivor}", 301, headers={"Cache-Control": STORIES})


@router.get("/stories/{story_id}", response_model=Story, dependencies=[Depends(refuse_credentials)])
def story(request: Request, serving: Parts, story_id: str) -> Response:
    """Full Coverage: articles, copies under their originals, local, opinion, fact-checks, timeline, other languages."""
    found = serving.shelf.get(story_id)
    if isinstance(found, Moved):
        return moved(found.survivor, "/v1/stories")
    return answer(request, json_body(found), STORIES)


@router.post("/stories/{story_id}/reports", status_code=202)
def report(serving: Parts, story_id: str, body: ReportRequest) -> dict[str, str]:
    """ "Not about this story": kept as evidence for repair, without any name of the reader."""
    found = serving.shelf.get(story_id)
    if isinstance(found, Moved):
        raise NotFound(f"this story is part of {found.survivor} now")
    listed = [*found.articles, *found.local, *found.opinion, *found.fact_checks]
    if body.article_id not in {ref.article_id for ref in listed}:
        raise NotFound("no such article in this story")
    event = ReaderEvent.model_validate(
        {
            "event_id": uuid.uuid4().hex, "kind": "report", "at": serving.clock.now(), "edition": "",
            "story_id": found.story_id, "article_id": body.article_id, "surface": "story", "reason": body.reason,
        }
    )  # fmt: skip
    serving.sender.offer(READER_EVENTS, body.article_id, event)
    return {"status": "accepted"}


@router.get(
    "/publishers/{publisher_id}/dashboard",
    response_model=PublisherDashboard,
    dependencies=[Depends(refuse_credentials)],
)
def dashboard(request: Request, serving: Parts, publisher_id: str) -> Response:
    """How a publisher stands on the pages of this moment, and the rules."""
    publisher = serving.memory.publishers.get(publisher_id)
    if publisher is None:
        raise NotFound("no such publisher")
    headlines: list[dict[str, str | int]] = []
    wins: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    supporting = copies = 0
    for (edition, section), page in sorted(serving.memory.pages.items()):
        for at, card in enumerate(page.cards, start=1):
            totals[edition] += 1
            supporting += sum(ref.publisher_id == publisher_id for ref in card.supporting)
            copies += publisher.name in card.also_published_by
            if card.top_article.publisher_id == publisher_id:
                wins[edition] += 1
                headlines.append(
                    {
                        "edition": edition,
                        "section": section,
                        "rank": at,
                        "story_id": card.story_id,
                        "headline": card.headline,
                    }
                )
    body = PublisherDashboard(
        publisher_id=publisher_id,
        name=publisher.name,
        authority=publisher.authority,
        headlines=headlines[:200],
        headlines_now=sum(wins.values()),
        headline_share_by_edition={e: round(wins[e] / totals[e], 4) for e in sorted(wins)},
        supporting_now=supporting,
        copies_now=copies,
        rules=RULES,
    )
    return answer(request, json_body(body), LISTS)
