"""Shared lists: editions, sections, local places, topics, the top list. All from memory, the same for everyone."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from frontpage.contracts.api import EditionInfo, EditionList, Page, Top, Topic, TopicInfo, Versions, iso
from frontpage.domain.editions import DEFAULT_EDITION, EDITIONS, SECTIONS, Edition
from frontpage.domain.languages import direction
from frontpage.domain.tokens import KeyRing
from frontpage.errors import NotFound, UnreadableInput
from serving.pages_memory import LoadedPage
from serving.pool import place_key
from serving.problems import NothingRanked, ProblemError
from serving.render import FEED_TYPES, Body, json_body
from serving.shared import LISTS, LOCAL, answer, refuse_credentials
from serving.state import Serving, serving_of
from serving.words import pretty, words

router = APIRouter(prefix="/v1", dependencies=[Depends(refuse_credentials)], tags=["shared pages"])
Parts = Annotated[Serving, Depends(serving_of)]
TOPIC_PAGE: Final = 20
_CURSOR: Final = "topic-cursor"


def split_suffix(name: str) -> tuple[str, str]:
    """`top.rss` -> (`top`, `rss`); (`name`, "") without a known suffix."""
    stem, dot, suffix = name.rpartition(".")
    return (stem, suffix) if dot and suffix in FEED_TYPES else (name, "")


def known_edition(edition: str) -> Edition:
    """Raises NotFound for an edition that does not exist."""
    if edition not in EDITIONS:
        raise NotFound("no such edition, see /v1/editions")
    return EDITIONS[edition]


def loaded(serving: Serving, edition: str, section: str) -> LoadedPage:
    """The page; NotFound when there can be none, NothingRanked when there should be one."""
    known_edition(edition)
    if section not in SECTIONS:
        raise NotFound("no such section, see /v1/editions")
    page = serving.memory.page(edition, section)
    if page is None:
        if edition in serving.memory.editions() and (edition, section) not in serving.memory.pages:
            raise NotFound("this edition has no such section now, see /v1/editions")
        serving.metrics.degraded.labels("no-page").inc()
        raise NothingRanked
    if page.stale_minutes is not None:
        serving.metrics.degraded.labels("stale-page").inc()
    return page


def stale_age(page: LoadedPage) -> int | None:
    """Seconds to tell in a header, in whole minutes so that caches and readers agree."""
    return None if page.stale_minutes is None else page.stale_minutes * 60


@router.get("/editions", response_model=EditionList)
def editions(request: Request, serving: Parts) -> Response:
    """Every edition that has pages now, with its sections."""
    listed = [
        EditionInfo.model_validate(
            {
                "edition": id, "name": EDITIONS[id].name, "region": EDITIONS[id].region,
                "language": EDITIONS[id].language, "dir": direction(EDITIONS[id].language), "sections": sections,
            }
        )
        for id, sections in serving.memory.editions().items()
    ]  # fmt: skip
    return answer(request, json_body(EditionList(default=DEFAULT_EDITION, editions=listed)), LISTS)


@router.get("/editions/{edition}/version", response_model=Versions)
def version(request: Request, serving: Parts, edition: str) -> Response:
    """Versions of an edition's pages: tiny, so that open apps can ask once a minute."""
    known_edition(edition)
    versions = {s: page.snapshot.version for (e, s), page in list(serving.memory.pages.items()) if e == edition}
    if not versions:
        raise NotFound("this edition has no pages now")
    return answer(request, json_body(Versions(edition=edition, sections=dict(sorted(versions.items())))), LISTS)


@router.get("/editions/{edition}/local/{place}", response_model=Page)
def local(request: Request, serving: Parts, edition: str, place: str) -> Response:
    """Stories of a place: it is named in them or their publisher is at home there. Kept 5 minutes at the edge."""
    name, suffix = split_suffix(place)
    found = known_edition(edition)
    key = place_key(name)[:80]
    result = serving.memory.local_cards(edition, key)
    if result is None:
        raise NothingRanked
    made_at, cards = result
    if not cards:
        raise NotFound("no stories of this place now")
    if suffix:
        path = f"/v1/editions/{edition}/local/{key}"
        title = f"Frontpage {found.name}: {pretty(key)}"
        return answer(request, serving.sheets.feeds(title, path, found, made_at, list(cards))[suffix], LOCAL)
    pool = serving.memory.pools[edition]
    page = Page(
        edition=edition, section=f"local/{key}", version=pool.version, generated_at=iso(made_at), items=list(cards)
    )
    return answer(request, json_body(page), LOCAL)


@router.get("/editions/{edition}/{section}", response_model=Page)
async def section(request: Request, serving: Parts, edition: str, section: str) -> Response:
    """The ranked stories of a section. Suffix `.rss`, `.atom` or `.json` (JSON Feed) for feed readers."""
    name, suffix = split_suffix(section)
    page = loaded(serving, edition, name)
    return answer(request, page.bodies[suffix or "api"], LISTS, age=stale_age(page))


@router.get("/top{suffix}", response_model=Top, include_in_schema=False)
async def top_feed(request: Request, serving: Parts, suffix: str, locale: str = DEFAULT_EDITION) -> Response:
    """`/v1/top.rss` and its siblings: the same list for feed readers."""
    if suffix.lstrip(".") not in FEED_TYPES or not suffix.startswith("."):
        raise NotFound("no such address")
    page = loaded(serving, locale, "top")
    return answer(request, page.bodies[suffix[1:]], LISTS, age=stale_age(page))


@router.get("/top", response_model=Top)
async def top(
    request: Request, serving: Parts, locale: str = DEFAULT_EDITION, limit: Annotated[int, Query(ge=1, le=100)] = 30
) -> Response:
    """Top stories of a locale, in the personalised-feed document's shape."""
    page = loaded(serving, locale, "top")
    body = page.memo.get(limit)
    if body is None:
        made = iso(page.snapshot.generated_at)
        items = list(page.cards[:limit])
        body = json_body(Top(locale=locale, as_of=made, stale=page.stale_minutes is not None, items=items))
        page.memo[limit] = body
    return answer(request, body, LISTS, age=stale_age(page))


@router.get("/topics/{topic_id}", response_model=Topic)
def topic(  # noqa: PLR0917 - the framework passes them by name
    request: Request,
    serving: Parts,
    topic_id: str,
    edition: str = DEFAULT_EDITION,
    cursor: Annotated[str | None, Query(max_length=1_000)] = None,
    limit: Annotated[int, Query(ge=1, le=50)] = TOPIC_PAGE,
) -> Response:
    """Stories of a topic, entity or section, newest first. The cursor carries time and id, so that equal times are
    neither skipped nor repeated while the list changes."""
    name, suffix = split_suffix(topic_id)
    found = known_edition(edition)
    rows = serving.memory.topic_cards(edition, name)
    if rows is None:
        raise NothingRanked
    if not rows:
        raise NotFound("no stories of this topic now")
    if suffix:
        made_at = serving.memory.pools[edition].generated_at
        title = f"Frontpage {found.name}: {topic_name(name, found)}"
        cards = [card for *_, card in rows[:50]]
        bodies = serving.sheets.feeds(title, f"/v1/topics/{name}", found, made_at, cards)
        return answer(request, bodies[suffix], LISTS)
    if cursor is not None:
        after = _read_cursor(serving.ring, cursor, edition, name)
        rows = [row for row in rows if (row[0], row[1]) < after]
    shown = rows[:limit]
    more = len(rows) > limit
    next_cursor = serving.ring.sign(_CURSOR, [edition, name, shown[-1][0], shown[-1][1]]) if more else None
    info = TopicInfo(id=name, name=topic_name(name, found))
    items = [card for *_, card in shown]
    return answer(request, json_body(Topic(topic=info, edition=edition, items=items, next_cursor=next_cursor)), LISTS)


def topic_name(topic_id: str, edition: Edition) -> str:
    """A section's name in the edition's words, or the id made pretty."""
    return words(edition.language)[topic_id] if topic_id in SECTIONS else pretty(topic_id)


def _read_cursor(ring: KeyRing, cursor: str, edition: str, topic_id: str) -> tuple[float, str]:
    try:
        fields = ring.verify(_CURSOR, cursor)
    except UnreadableInput:
        raise ProblemError(400, "bad-cursor", "this cursor is not one of ours: start without it") from None
    match fields:
        case [str(e), str(t), int() | float() as at, str(story)] if (e, t) == (edition, topic_id):
            return float(at), story
    raise ProblemError(400, "bad-cursor", "this cursor belongs to another list")


__all__ = ["Body", "known_edition", "loaded", "router", "split_suffix", "stale_age", "topic_name"]
