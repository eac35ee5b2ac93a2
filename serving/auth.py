"""Who is asking: bearer tokens (JWT, HS256) for the API, the page's own cookie for `/me`. Nowhere else.

The account id (`sub`) is turned into the reader's keyed hash here and goes no further.
"""

from __future__ import annotations

from typing import Final

import jwt

from frontpage.domain.tokens import KeyRing
from serving.problems import ProblemError

#: Limited to the signed-in part, so that shared addresses never see it.
COOKIE: Final = "frontpage_me"
COOKIE_PATH: Final = "/me"
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="frontpage"'}


class Authority:
    """Checks tokens with one secret; `ring` keys the reader hash."""

    def __init__(self, secret: str, ring: KeyRing) -> None:
        self._secret, self._ring = secret, ring

    def reader(self, token: str) -> str:
        """The reader's hash; raises ProblemError 401 for anything but a valid token with a subject."""
        try:
            claims = jwt.decode(token, self._secret, algorithms=["HS256"], options={"require": ["sub"]}, leeway=30)
        except jwt.ExpiredSignatureError:
            raise ProblemError(401, "token-expired", "sign in again", headers=_CHALLENGE) from None
        except jwt.PyJWTError:
            raise ProblemError(401, "bad-token", "this bearer token does not verify", headers=_CHALLENGE) from None
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= 256:
            raise ProblemError(401, "bad-token", "the token has no usable subject", headers=_CHALLENGE)
        try:
            return self._ring.reader_hash(subject)
        except UnicodeEncodeError:  # half a surrogate pair: JSON can spell it, no account is called that
            raise ProblemError(401, "bad-token", "the token has no usable subject", headers=_CHALLENGE) from None

    def bearer(self, authorization: str | None) -> str:
        """The reader of an Authorization header."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise ProblemError(401, "sign-in-required", "send Authorization: Bearer <token>", headers=_CHALLENGE)
        return self.reader(token.strip())
