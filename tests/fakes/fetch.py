"""`FakeFetcher`: the in-memory twin of `FetchTier`, for tests of what polls and enriches."""

from __future__ import annotations

from collections.abc import Mapping

from frontpage.adapters.fetch import Fetched, Kind
from frontpage.errors import FetchError, FetchFailed


class FakeFetcher:
    """`answers` maps an address to a `Fetched`, a FetchError, or a list of them used up one by one (the last stays)."""

    def __init__(self, answers: dict[str, Fetched | FetchError | list[Fetched | FetchError]] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[tuple[str, Kind, dict[str, str]]] = []

    async def get(self, url: str, *, kind: Kind, headers: Mapping[str, str] | None = None) -> Fetched:
        self.asked.append((url, kind, dict(headers or {})))
        answer = self.answers.get(url)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if answer is None:
            raise FetchFailed(f"nobody answers at {url}", cause="connect")
        if isinstance(answer, FetchError):
            raise answer
        return answer

    async def close(self) -> None:
        pass


def page(url: str, html: str, status: int = 200) -> Fetched:
    return Fetched(url, status, {"content-type": "text/html; charset=utf-8"}, html.encode())
