"""What every shared route does: refuse credentials, answer with cache headers, strong ETag, 304 and gzip.

Shared answers are the same bytes for every reader, so nothing of a request but its path, its query and the encodings it
accepts may reach them. Private answers are marked so that no cache keeps them.
"""

from __future__ import annotations

from typing import Final

from fastapi import Request
from fastapi.responses import Response

from serving.problems import ProblemError
from serving.render import Body


def _shared(seconds: int) -> str:
    return f"public, s-maxage={seconds}, stale-while-revalidate=60, stale-if-error=3600"


#: CONTRACTS.md: 60 s for lists, 30 s for stories, 5 min for local pages.
LISTS: Final = _shared(60)
STORIES: Final = _shared(30)
LOCAL: Final = _shared(300)
PRIVATE: Final = "private, no-store"


def refuse_credentials(request: Request) -> None:
    """Dependency of every shared route (editions document: the origin rejects shared requests that carry them)."""
    carried = [name for name in ("cookie", "authorization") if name in request.headers]
    if carried:
        raise ProblemError(
            400,
            "credentials-on-shared-route",
            f"this address is the same for everyone and must be asked without {' and '.join(carried)}; "
            "personal answers live under /v1/feed, /v1/me and /me",
        )


def answer(request: Request, body: Body, cache_control: str, *, age: int | None = None) -> Response:
    """The body in the encoding asked for, or 304. `age` seconds: the snapshot's, told when ranking has stopped."""
    packed = body.packed if body.packed is not None and _accepts_gzip(request) else None
    etag = body.packed_etag if packed is not None else body.etag
    headers = {"Cache-Control": cache_control, "ETag": etag, "Vary": "Accept-Encoding"}
    if age is not None:
        headers["Frontpage-Snapshot-Age"] = str(age)
    if _matches(request.headers.get("if-none-match"), (body.etag, body.packed_etag)):
        return Response(status_code=304, headers=headers)
    if packed is not None:
        headers["Content-Encoding"] = "gzip"
    return Response(packed if packed is not None else body.content, 200, headers, body.media_type)


def private(body: Body, status: int = 200) -> Response:
    """A page for one reader."""
    return Response(body.content, status, {"Cache-Control": PRIVATE}, body.media_type)


def _accepts_gzip(request: Request) -> bool:
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, rest = part.partition(";")
        if name.strip() in ("gzip", "*"):
            return rest.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _matches(header: str | None, etags: tuple[str, ...]) -> bool:
    """If-None-Match by weak comparison (RFC 9110, 13.1.2)."""
    if header is None:
        return False
    if header.strip() == "*":
        return True
    return any(tag.strip().removeprefix("W/") in etags for tag in header.split(","))
