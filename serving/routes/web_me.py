"""The signed-in part of the page, all under `/me`, with its own cookie limited to that path.

Plain forms, no script needed. Forged posts are refused twice: the cookie is SameSite=Strict, and a post whose Origin
is another site is refused.
"""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import TypeAdapter, ValidationError

from frontpage.contracts.api import HideRequest, Id, MePatch
from frontpage.domain.editions import DEFAULT_EDITION, EDITIONS
from frontpage.errors import ServiceUnavailable
from serving.auth import COOKIE, COOKIE_PATH
from serving.forms import read_form, same_origin
from serving.problems import ProblemError
from serving.readers import ReaderState, me
from serving.shared import PRIVATE, private
from serving.state import Serving, serving_of
from serving.words import pretty

router = APIRouter(include_in_schema=False)
Parts = Annotated[Serving, Depends(serving_of)]
KINDS: Final = ("topic", "entity", "source")
_ID: Final = TypeAdapter(Id)


@router.get("/me")
async def for_you(
    request: Request, serving: Parts, cursor: Annotated[str | None, Query(max_length=1_000)] = None
) -> Response:
    """For you, or the sign-in form."""
    token = request.cookies.get(COOKIE)
    if token is None:
        return _sign_in(serving, "")
    try:
        reader = serving.authority.reader(token)
    except ProblemError as problem:
        return _sign_out(_sign_in(serving, problem.detail, 401))
    try:
        feed = await serving.for_you.feed(reader, None, cursor, 20)
    except ProblemError as problem:
        if problem.status not in (400, 410):
            raise
        return _go("/me")
    try:
        state = serving.readers.load(reader)
    except ServiceUnavailable:
        state = ReaderState(reader, edition=feed.edition)
    shown = me(state)
    suggestions = _suggestions(serving, state)
    body = serving.sheets.private(
        "me.html", EDITIONS[feed.edition], serving.clock.now(), title="For you", feed=feed, me=shown,
        suggestions=suggestions, names=_names(serving, shown.follows, shown.hidden), paged=cursor is not None,
        sections=serving.memory.editions().get(feed.edition, []), available=list(serving.memory.editions()),
    )  # fmt: skip
    return private(body)


@router.post("/me/{action}")
async def act(request: Request, serving: Parts, action: str) -> Response:
    """One form post: sign in or out, follow, hide, settings, history."""
    same_origin(request)
    form = await read_form(request)
    if action == "login":
        token = form.get("token", "").strip().removeprefix("Bearer ").strip()
        try:
            serving.authority.reader(token)
        except ProblemError as problem:
            return _sign_in(serving, problem.detail, 401)
        response = _go("/me")
        response.set_cookie(
            COOKIE, token, max_age=30 * 86_400, path=COOKIE_PATH, httponly=True, samesite="strict",
            secure=request.url.scheme == "https" or not serving.options.development,
        )  # fmt: skip
        return response
    if action == "logout":
        return _sign_out(_go("/me"))
    cookie = request.cookies.get(COOKIE)
    if cookie is None:
        raise ProblemError(401, "sign-in-required", "sign in at /me first")
    try:
        _apply(serving, serving.authority.reader(cookie), action, form)
    except ValidationError as error:
        raise ProblemError(422, "invalid-request", str(error.errors()[0]["msg"])) from None
    return _sign_out(_go("/me")) if action == "delete" else _go("/me")


def _apply(serving: Serving, reader: str, action: str, form: dict[str, str]) -> None:
    readers = serving.readers
    kind, target = form.get("kind", ""), form.get("id", "").strip()[:128]
    if action in ("follow", "unfollow") and kind in KINDS and target:
        readers.switch(reader, "follow", kind, _ID.validate_python(target), action == "follow")  # type: ignore[arg-type]
    elif action in ("hide", "unhide") and kind in ("source", "story", "topic") and target:
        readers.switch(reader, "hide", *HideRequest.model_validate({f"{kind}_id": target}).target, action == "hide")
    elif action == "settings":
        wanted = {name: form[name] for name in ("edition", "place", "alpha") if name in form}
        readers.patch(reader, MePatch.model_validate(wanted))
    elif action in ("pause", "resume"):
        readers.pause(reader, action == "pause")
    elif action == "delete":
        readers.delete(reader)
    else:
        raise ProblemError(404, "not-found", "no such action")


def _sign_in(serving: Serving, problem: str, status: int = 200) -> Response:
    edition = EDITIONS[DEFAULT_EDITION]
    body = serving.sheets.private(
        "signin.html", edition, serving.clock.now(), title="Sign in", problem=problem,
        development=serving.options.development, sections=serving.memory.editions().get(edition.id, []),
    )  # fmt: skip
    return private(body, status)


def _sign_out(response: Response) -> Response:
    response.delete_cookie(COOKIE, path=COOKIE_PATH, httponly=True, samesite="strict")
    return response


def _go(where: str) -> Response:
    return RedirectResponse(quote(where, safe="/?=&"), 303, headers={"Cache-Control": PRIVATE})


def _suggestions(serving: Serving, state: ReaderState) -> list[tuple[str, str, str]]:
    """(kind, id, name) to follow: the busiest topics and sources of the edition that are not followed yet."""
    pool = serving.memory.pools.get(state.edition)
    if pool is None:
        return []
    followed = {(key[1], key[2]) for key, r in state.registers.items() if r.on and key[0] == "follow"}
    topics = sorted(pool.by_topic, key=lambda t: (-len(pool.by_topic[t]), t))
    sources = sorted(pool.by_source, key=lambda s: (-len(pool.by_source[s]), s))
    found = [("topic", t, pretty(t)) for t in topics[:14]]
    found += [("source", s, _publisher(serving, s)) for s in sources[:8]]
    return [entry for entry in found if entry[:2] not in followed][:16]


def _publisher(serving: Serving, publisher_id: str) -> str:
    publisher = serving.memory.publishers.get(publisher_id)
    return publisher.name if publisher else publisher_id


def _names(serving: Serving, *groups: list) -> dict[str, str]:  # type: ignore[type-arg]
    """Readable names of follows and hides by `kind:id`."""
    names = {}
    for entry in (entry for group in groups for entry in group):
        name = _publisher(serving, entry.id) if entry.kind == "source" else pretty(entry.id)
        if entry.kind == "story":
            name = next(
                (
                    p.cards[at].headline
                    for p in serving.memory.pools.values()
                    if (at := p.by_id.get(entry.id)) is not None
                ),
                "A story",
            )
        names[f"{entry.kind}:{entry.id}"] = name
    return names
