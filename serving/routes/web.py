"""The reader's shared pages: sections, places, topics and Full Coverage as HTML. No cookies, the same for everyone."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from frontpage.domain.editions import DEFAULT_EDITION, EDITIONS
from frontpage.errors import NotFound
from serving.pool import place_key
from serving.problems import NothingRanked
from serving.routes.pages import known_edition, loaded, stale_age, topic_name
from serving.routes.stories import moved
from serving.shared import LISTS, LOCAL, STORIES, answer, refuse_credentials
from serving.state import Serving, serving_of
from serving.stories import Moved, home_edition
from serving.words import pretty

router = APIRouter(include_in_schema=False, dependencies=[Depends(refuse_credentials)])
Parts = Annotated[Serving, Depends(serving_of)]


@router.get("/")
async def home(serving: Parts) -> Response:
    """To the default edition, or to the first that has pages."""
    available = serving.memory.editions()
    edition = DEFAULT_EDITION if DEFAULT_EDITION in available or not available else next(iter(available))
    return RedirectResponse(f"/{edition}/top", 302, headers={"Cache-Control": LISTS})


@router.get("/stories/{story_id}")
def story(request: Request, serving: Parts, story_id: str) -> Response:
    """Full Coverage."""
    found = serving.shelf.get(story_id)
    if isinstance(found, Moved):
        return moved(found.survivor, "/stories")
    edition = home_edition(found.language)
    sections = serving.memory.editions().get(edition.id, [])
    # ages count from the newest page in memory, never from the request: the same bytes for everyone
    now = max((page.snapshot.generated_at for page in list(serving.memory.pages.values())), default=serving.clock.now())
    pool = serving.memory.pools.get(edition.id)
    linked = frozenset(topic for topic in found.related_topics if pool is not None and topic in pool.by_topic)
    return answer(request, serving.sheets.story(found, edition, now, sections=sections, linked=linked), STORIES)


@router.get("/{edition}")
async def edition_home(edition: str) -> Response:
    """`/de-DE` -> its top page."""
    if edition not in EDITIONS:
        raise NotFound("there is no page here")
    return RedirectResponse(f"/{edition}/top", 302, headers={"Cache-Control": LISTS})


@router.get("/{edition}/local/{place}")
def local(request: Request, serving: Parts, edition: str, place: str) -> Response:
    """A place's stories."""
    found = known_edition(edition)
    key = place_key(place)[:80]
    result = serving.memory.local_cards(edition, key)
    if result is None:
        raise NothingRanked
    made_at, cards = result
    if not cards:
        raise NotFound("no stories of this place now")
    body = serving.sheets.listing(
        found, made_at, list(cards), title=pretty(key), section="local", feed=f"/v1/editions/{edition}/local/{key}",
        sections=serving.memory.editions().get(edition, []),
    )  # fmt: skip
    return answer(request, body, LOCAL)


@router.get("/{edition}/topics/{topic_id}")
def topic(request: Request, serving: Parts, edition: str, topic_id: str) -> Response:
    """A topic's stories, newest first."""
    found = known_edition(edition)
    rows = serving.memory.topic_cards(edition, topic_id)
    if rows is None:
        raise NothingRanked
    if not rows:
        raise NotFound("no stories of this topic now")
    body = serving.sheets.listing(
        found, serving.memory.pools[edition].generated_at, [card for *_, card in rows[:50]],
        title=topic_name(topic_id, found), section="", feed=f"/v1/topics/{topic_id}",
        sections=serving.memory.editions().get(edition, []),
    )  # fmt: skip
    return answer(request, body, LISTS)


@router.get("/{edition}/{section}")
async def section(request: Request, serving: Parts, edition: str, section: str) -> Response:
    """A section's page, rendered when it was loaded."""
    if edition not in EDITIONS:
        raise NotFound("there is no page here")
    page = loaded(serving, edition, section)
    return answer(request, page.bodies["html"], LISTS, age=stale_age(page))
