"""The app factory: routes, middleware and error handling around the parts of `state.py`. Connects nothing itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import Response

from serving import problems
from serving.middleware import Around
from serving.problems import ProblemError
from serving.routes import clicks, me, merges, operations, pages, push, stories, web, web_me
from serving.state import Serving

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

DESCRIPTION = """Ranked news stories for every edition and every reader.

Shared pages are the same bytes for everyone, cacheable, and refuse credentials. Private addresses (`/v1/feed`,
`/v1/me`, `/v1/events`) want `Authorization: Bearer <token>` and are never cached. Times are ISO 8601 UTC. Errors are
problem details (RFC 9457). Over the limit of requests: 429 with `Retry-After`."""


def create_app(serving: Serving, lifespan: Lifespan | None = None) -> FastAPI:
    """The ASGI app over one set of parts; `lifespan` starts and stops what runs beside it."""
    app = FastAPI(
        title="Frontpage", version="1", description=DESCRIPTION, docs_url=None, redoc_url=None,
        openapi_url="/openapi.json", lifespan=lifespan or _nothing, redirect_slashes=False,
    )  # fmt: skip
    app.state.serving = serving
    for module in (operations, merges, clicks, push, pages, stories, me, web_me, web):
        app.include_router(module.router)
    fail = problems.install(app, lambda problem, request: _problem_page(serving, problem, request))
    app.add_middleware(Around, serving=serving, fail=fail)
    return app


def _problem_page(serving: Serving, problem: ProblemError, request: Request) -> Response:
    context: dict[str, object] = {"elsewhere": None, "cookies": []}
    if problem.kind == "credentials-on-shared-route":
        # on a developer's machine, cookies of other programs on the same host reach us: name them and a way around
        context["cookies"] = sorted(request.cookies)[:10]
        address = urlsplit(str(request.url))
        other = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}.get(address.hostname or "")
        if other:
            context["elsewhere"] = address._replace(netloc=f"{other}:{address.port or 80}").geturl()
    body = serving.sheets.problem(problem.status, problem.kind.replace("-", " "), problem.detail, **context)
    headers = {"Cache-Control": "no-store", **problem.headers}
    return Response(body.content, problem.status, headers, body.media_type)


@asynccontextmanager
async def _nothing(_app: FastAPI) -> AsyncIterator[None]:
    yield
