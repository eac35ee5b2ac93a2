"""Errors as RFC 9457 problem details (`application/problem+json`), or as a small page for browsers.

Every refusal in `serving` is a `ProblemError`; the house's own errors are mapped here and nowhere else. A problem
never repeats a token, a stack or a reader's words back.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from frontpage.contracts.api import Problem
from frontpage.errors import FrontpageError, NotFound, ServiceUnavailable, UnreadableInput

log = logging.getLogger(__name__)
Handler = Callable[[Request, Exception], Awaitable[Response]]
MEDIA_TYPE = "application/problem+json"
#: `type` is a relative reference to the API's own docs, as RFC 9457 section 3.1.1 allows.
TYPE_BASE = "/docs/problems#"


class ProblemError(Exception):
    """A refusal with its status. `kind` is a stable machine-readable word."""

    def __init__(
        self, status: int, kind: str, detail: str = "", *, headers: Mapping[str, str] | None = None,
        errors: list[dict[str, str]] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(f"{status} {kind}: {detail}")
        self.status, self.kind, self.detail = status, kind, detail
        self.headers = dict(headers or {})
        self.errors = errors


class NothingRanked(ServiceUnavailable):
    """There should be a page and is none: not a store's fault, and nothing that the caller did wrong."""

    def __init__(self) -> None:
        super().__init__("nothing here is younger than an hour: ranking has not begun, or has stopped")


def as_problem(error: Exception) -> ProblemError:
    """The problem for any exception; an unforeseen one becomes a bare 500 and is logged by its caller."""
    match error:
        case ProblemError():
            return error
        case NotFound():
            return ProblemError(404, "not-found", str(error))
        case UnreadableInput():
            return ProblemError(400, error.cause, str(error))
        case NothingRanked():
            return ProblemError(503, "no-fresh-page", str(error), headers={"Retry-After": "5"})
        case ServiceUnavailable():
            return ProblemError(503, "service-unavailable", "a store does not answer", headers={"Retry-After": "5"})
        case RequestValidationError():
            listed = [
                {"field": ".".join(str(part) for part in e["loc"]), "message": str(e["msg"])}
                for e in error.errors()[:20]
            ]
            return ProblemError(422, "invalid-request", "the request does not have the documented form", errors=listed)
        case ClientDisconnect():
            return ProblemError(400, "cut-off", "the body was cut off")
        case HTTPException():
            # the phrases of some codes differ between versions of Python
            phrase = {408: "too-slow", 413: "too-large"}.get(error.status_code, HTTPStatus(error.status_code).phrase)
            kind = phrase.lower().replace(" ", "-")
            return ProblemError(error.status_code, kind, str(error.detail), headers=error.headers)
        case FrontpageError():
            return ProblemError(503, "degraded", str(error), headers={"Retry-After": "5"})
    return ProblemError(500, "internal-error", "something unforeseen happened; it has been logged")


def respond(problem: ProblemError, path: str) -> Response:
    """The JSON form."""
    body = Problem(
        type=TYPE_BASE + problem.kind, title=problem.kind.replace("-", " "), status=problem.status,
        detail=problem.detail, instance=path, errors=problem.errors,
    )  # fmt: skip
    headers = {"Cache-Control": "no-store", **problem.headers}
    return Response(body.model_dump_json(exclude_none=True), problem.status, headers, MEDIA_TYPE)


def wants_page(request: Request) -> bool:
    """True for a browser's navigation outside the API."""
    return not request.url.path.startswith("/v1/") and "text/html" in request.headers.get("accept", "")


def install(app: FastAPI, page: Callable[[ProblemError, Request], Response]) -> Handler:
    """Handle every deliberate error of `app`; `page` draws the HTML form.

    Returns the handler, for whoever stands around the app: only there can the answer to an unforeseen error get the
    headers that every answer has.
    """

    async def handle(request: Request, error: Exception) -> Response:
        problem = as_problem(error)
        if problem.status >= 500 and problem.kind == "internal-error":
            log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return page(problem, request) if wants_page(request) else respond(problem, request.url.path)

    for kind in (ProblemError, FrontpageError, RequestValidationError, HTTPException, ClientDisconnect):
        app.add_exception_handler(kind, handle)
    return handle
