"""Health, metrics, documentation, static files: what operators, machines and developers ask for."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from frontpage.errors import NotFound
from serving.problem_kinds import KINDS
from serving.render import HERE, Body
from serving.shared import answer
from serving.state import Serving, serving_of

router = APIRouter(include_in_schema=False)
Parts = Annotated[Serving, Depends(serving_of)]
_TYPES: Final = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


@router.get("/healthz")
async def healthz() -> PlainTextResponse:
    """The process is alive."""
    return PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})


@router.get("/readyz")
async def readyz(serving: Parts) -> JSONResponse:
    """200 when pages can be served: pointers were compared at least once. Says how many there are and their age."""
    ages = {
        edition: round(serving.memory.age(page.snapshot.generated_at))
        for (edition, section), page in list(serving.memory.pages.items())
        if section == "top"
    }
    ready = serving.memory.refreshed_at is not None
    model = serving.model.current
    facts = {
        "ready": ready, "pages": len(serving.memory.pages), "pools": len(serving.memory.pools),
        "top_page_age_seconds": ages, "model": model.version if model else None,
    }  # fmt: skip
    return JSONResponse(facts, 200 if ready else 503, {"Cache-Control": "no-store"})


@router.get("/metrics")
def metrics(serving: Parts) -> Response:
    """Prometheus text."""
    return Response(generate_latest(serving.metrics.registry), media_type=CONTENT_TYPE_LATEST)


@router.get("/static/{name}")
async def static(request: Request, name: str) -> Response:
    """Style, script and icon; their address carries their hash."""
    body = _STATIC.get(name)
    if body is None:
        raise NotFound("no such file")
    return answer(request, body, "public, max-age=31536000, immutable")


@router.get("/favicon.ico")
async def favicon(request: Request) -> Response:
    """The icon for browsers that ask here."""
    return answer(request, _STATIC["icon.svg"], "public, max-age=86400")


@router.get("/robots.txt")
async def robots() -> PlainTextResponse:
    """Crawlers: the shared pages yes, links out and the signed-in part no."""
    text = "User-agent: *\nDisallow: /r/\nDisallow: /me\nDisallow: /v1/\n"
    return PlainTextResponse(text, headers={"Cache-Control": "public, max-age=86400"})


@router.get("/docs")
def docs(request: Request, serving: Parts) -> Response:
    """The API, drawn from its OpenAPI description, without scripts from elsewhere."""
    description = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["other"])[0]
            groups.setdefault(tag, []).append({"method": method.upper(), "path": path, **operation})
    body = serving.sheets.docs("API", groups=groups, description=description, problems=KINDS)
    return answer(request, body, "public, max-age=60")


@router.get("/docs/problems")
async def problems() -> Response:
    """Where `type` of a problem points: the browser keeps its `#kind` through the redirect."""
    return RedirectResponse("/docs", 302, headers={"Cache-Control": "public, max-age=86400"})


_STATIC: Final = {name: Body.of((HERE / "static" / name).read_bytes(), kind) for name, kind in _TYPES.items()}
