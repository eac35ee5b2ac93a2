"""Posted forms of our own pages: read within a limit, refused when another site's page sent them."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs, urlsplit

from fastapi import Request

from serving.problems import ProblemError

#: A form of ours is far below this; a bearer token is under 1 kB.
FORM_LIMIT: Final = 16_384


async def read_form(request: Request) -> dict[str, str]:
    """The fields; of one given twice the last. Raises ProblemError (413, 422)."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_LIMIT:
            raise ProblemError(413, "too-large", "this form is too large")
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise ProblemError(422, "invalid-request", "this is no form of ours") from None
    return {name: values[-1] for name, values in fields.items()}


def same_origin(request: Request) -> None:
    """Raises ProblemError (403) when a browser says that the page of another site sent it."""
    origin = request.headers.get("origin")
    try:
        sender = None if origin is None else urlsplit(origin).netloc
    except ValueError:
        sender = ""
    if sender is not None and sender != request.headers.get("host", ""):
        raise ProblemError(403, "other-site", "this form was sent from another site")
