"""The operations page of merges that wait for a person: `/operations/merges`, for operators only.

Signs in by HTTP Basic with an operator's token as the password (browsers ask for it themselves), or by Bearer; the
token has the claim `role: operator`. Forms only, no script; a post from another site's page is refused. The same as
`frontpage merges`.
"""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from frontpage.adapters.bus import Bus
from frontpage.adapters.reviews import decide, open_reviews
from frontpage.contracts.api import iso
from frontpage.domain.editions import DEFAULT_EDITION, EDITIONS
from frontpage.domain.reviews import Decision
from frontpage.errors import ServiceUnavailable
from serving.forms import read_form, same_origin
from serving.problems import ProblemError
from serving.shared import PRIVATE, private
from serving.state import Serving, serving_of

router = APIRouter(include_in_schema=False)
Parts = Annotated[Serving, Depends(serving_of)]
PAGE: Final = "/operations/merges"
_DECISIONS: Final[dict[str, Decision]] = {"accept": "accepted", "reject": "rejected"}


@router.get(PAGE)
def held(request: Request, serving: Parts) -> Response:
    """What waits, with a button each way."""
    serving.authority.operator(request.headers.get("authorization"))
    found = open_reviews(_bus(serving), serving.store)
    body = serving.sheets.private(
        "merges.html", EDITIONS[DEFAULT_EDITION], serving.clock.now(), title="Merges to decide", sections=[],
        reviews=[(review, iso(review.event.at)) for review in found],
    )  # fmt: skip
    return private(body)


@router.post(PAGE + "/{merge_id}")
async def act(request: Request, serving: Parts, merge_id: str) -> Response:
    """One decision; the same again changes nothing."""
    by = serving.authority.operator(request.headers.get("authorization"))
    same_origin(request)
    decision = _DECISIONS.get((await read_form(request)).get("decision", ""))
    if decision is None:
        raise ProblemError(422, "invalid-request", "decision is accept or reject")
    await run_in_threadpool(decide, _bus(serving), merge_id, decision, by, serving.clock.now())
    return RedirectResponse(PAGE, 303, headers={"Cache-Control": PRIVATE})


def _bus(serving: Serving) -> Bus:
    if serving.bus is None:
        raise ServiceUnavailable("this process was started without Kafka")
    return serving.bus
