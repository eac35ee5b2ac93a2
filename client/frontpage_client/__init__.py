"""A typed client of the Frontpage API: the contract's shapes, ETags, cursors and problems handled once.

For apps and scripts. Not for the reader page, which is served by the same process as the API. A client is cheap, not
thread-safe, and retries nothing: `ApiError.retry_after` says when to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from frontpage.contracts.api import (
    Accepted,
    ClientEvent,
    EditionList,
    EventsRequest,
    Feed,
    FollowKind,
    Me,
    MePatch,
    Page,
    Problem,
    Shape,
    Story,
    StoryCard,
    Top,
    Topic,
    Versions,
)

Answer = TypeVar("Answer", bound=Shape)


class ApiError(Exception):
    """The API refused: `problem` is its RFC 9457 body, `retry_after` seconds when it named any."""

    def __init__(self, problem: Problem, retry_after: float | None) -> None:
        super().__init__(f"{problem.status} {problem.title}: {problem.detail}")
        self.problem = problem
        self.retry_after = retry_after


class Frontpage:
    """`base` is the site's address; `token` a bearer token, needed for private addresses only."""

    def __init__(self, base: str, token: str | None = None, *, http: httpx.Client | None = None) -> None:
        self._http = http or httpx.Client(base_url=base, timeout=5.0, follow_redirects=True)
        self._token = token
        self._kept: dict[str, tuple[str, bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def editions(self) -> EditionList:
        """Editions that have pages."""
        return self._shared(EditionList, "/v1/editions")

    def page(self, edition: str, section: str = "top") -> Page:
        """A ranked section."""
        return self._shared(Page, f"/v1/editions/{edition}/{section}")

    def local(self, edition: str, place: str) -> Page:
        """A place's stories."""
        return self._shared(Page, f"/v1/editions/{edition}/local/{place}")

    def versions(self, edition: str) -> Versions:
        """Page versions, to know whether to ask again."""
        return self._shared(Versions, f"/v1/editions/{edition}/version")

    def top(self, locale: str, limit: int = 30) -> Top:
        """Top stories of a locale."""
        return self._shared(Top, f"/v1/top?locale={locale}&limit={limit}")

    def topic(self, topic_id: str, edition: str) -> Iterator[StoryCard]:
        """All stories of a topic, newest first."""
        cursor: str | None = None
        while True:
            tail = f"&cursor={cursor}" if cursor else ""
            found = self._shared(Topic, f"/v1/topics/{topic_id}?edition={edition}{tail}")
            yield from found.items
            cursor = found.next_cursor
            if cursor is None:
                return

    def story(self, story_id: str) -> Story:
        """Full Coverage; follows a merged story to its survivor."""
        return self._shared(Story, f"/v1/stories/{story_id}")

    def feed(self, *, edition: str | None = None, cursor: str | None = None, limit: int = 20) -> Feed:
        """One page of For you."""
        wanted = {"edition": edition, "cursor": cursor, "limit": limit}
        query = {name: value for name, value in wanted.items() if value is not None}
        return Feed.model_validate_json(self._private("GET", "/v1/feed", params=query).content)

    def for_you(self, *, edition: str | None = None) -> Iterator[StoryCard]:
        """The whole ranked list, page by page."""
        feed = self.feed(edition=edition)
        while True:
            yield from feed.items
            if feed.next_cursor is None:
                return
            feed = self.feed(cursor=feed.next_cursor)

    def me(self) -> Me:
        """Settings, follows and hides."""
        return Me.model_validate_json(self._private("GET", "/v1/me").content)

    def change(self, patch: MePatch) -> Me:
        """Change settings."""
        body = patch.model_dump(exclude_unset=True)
        return Me.model_validate_json(self._private("PATCH", "/v1/me", json=body).content)

    def follow(self, kind: FollowKind, target: str, on: bool = True) -> None:
        """Follow, or stop following."""
        self._private("PUT" if on else "DELETE", f"/v1/me/follows/{kind}/{target}")

    def hide_source(self, source_id: str, on: bool = True) -> None:
        """Hide a source, or show it again."""
        self._private("POST" if on else "DELETE", "/v1/me/hide", json={"source_id": source_id})

    def hide_story(self, story_id: str, on: bool = True) -> None:
        """Hide a story, or show it again."""
        self._private("POST" if on else "DELETE", "/v1/me/hide", json={"story_id": story_id})

    def pause_history(self, paused: bool = True) -> None:
        """Stop remembering what is read, or start again."""
        self._private("POST", f"/v1/me/history/{'pause' if paused else 'resume'}")

    def delete_me(self) -> None:
        """Forget everything."""
        self._private("DELETE", "/v1/me")

    def send(self, edition: str, events: Sequence[ClientEvent]) -> Accepted:
        """Report impressions, reads and dwell (at most 100)."""
        body = EventsRequest(edition=edition, events=list(events)).model_dump()
        return Accepted.model_validate_json(self._private("POST", "/v1/events", json=body).content)

    def _shared(self, shape: type[Answer], path: str) -> Answer:
        known = self._kept.get(path)
        answer = self._http.get(path, headers={"If-None-Match": known[0]} if known else {})
        if answer.status_code == 304 and known:
            return shape.model_validate_json(known[1])
        _check(answer)
        if etag := answer.headers.get("etag"):
            self._kept[path] = (etag, answer.content)
        return shape.model_validate_json(answer.content)

    def _private(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        answer = self._http.request(method, path, headers=headers, **arguments)
        _check(answer)
        return answer


def _check(answer: httpx.Response) -> None:
    if answer.is_success:
        return
    try:
        problem = Problem.model_validate_json(answer.content)
    except ValueError:
        problem = Problem(type="about:blank", title=answer.reason_phrase, status=answer.status_code)
    retry = answer.headers.get("retry-after", "")
    raise ApiError(problem, float(retry) if retry.isdigit() else None)
