"""Who is asking: bearer tokens (JWT, HS256) for the API and operators, the page's own cookie for `/me`. Nowhere else.

A token must end (`exp`): one that does not would be a key for ever to whoever finds it.

The account id (`sub`) is turned into the reader's keyed hash here and goes no further.
"""

from __future__ import annotations

import base64
from typing import Any, Final

import jwt

from frontpage.domain.tokens import KeyRing
from serving.problems import ProblemError

#: Limited to the signed-in part, so that shared addresses never see it.
COOKIE: Final = "frontpage_me"
COOKIE_PATH: Final = "/me"
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="frontpage"'}
#: A browser asks for a name and a password: the password is an operator's token, the name does not matter.
_ASK: Final = {"WWW-Authenticate": 'Basic realm="Frontpage operations", charset="UTF-8"'}
OPERATOR: Final = "operator"


class Authority:
    """Checks tokens with one secret; `ring` keys the reader hash."""

    def __init__(self, secret: str, ring: KeyRing) -> None:
        self._secret, self._ring = secret, ring

    def reader(self, token: str) -> str:
        """The reader's hash; raises ProblemError 401 for anything but a valid token with a subject."""
        subject = self._claims(token, _CHALLENGE)["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= 256:
            raise ProblemError(401, "bad-token", "the token has no usable subject", headers=_CHALLENGE)
        try:
            return self._ring.reader_hash(subject)
        except UnicodeEncodeError:  # half a surrogate pair: JSON can spell it, no account is called that
            raise ProblemError(401, "bad-token", "the token has no usable subject", headers=_CHALLENGE) from None

    def operator(self, authorization: str | None) -> str:
        """The account of an operator, from a Basic password or a Bearer token; raises ProblemError 401 and 403."""
        scheme, _, given = (authorization or "").partition(" ")
        token = given.strip()
        if scheme.lower() == "basic":
            try:
                token = base64.b64decode(token, validate=True).decode().partition(":")[2].strip()
            except ValueError:
                token = ""
        elif scheme.lower() != "bearer":
            token = ""
        if not token:
            raise ProblemError(401, "sign-in-required", "the password is an operator's token", headers=_ASK)
        claims = self._claims(token, _ASK)
        if claims.get("role") != OPERATOR:
            raise ProblemError(403, "not-an-operator", "this token is a reader's")
        return str(claims["sub"])[:256]

    def _claims(self, token: str, challenge: dict[str, str]) -> dict[str, Any]:
        try:
            claims: dict[str, Any] = jwt.decode(
                token, self._secret, algorithms=["HS256"], options={"require": ["sub", "exp"]}, leeway=30
            )
        except jwt.ExpiredSignatureError:
            raise ProblemError(401, "token-expired", "sign in again", headers=challenge) from None
        except jwt.PyJWTError:
            raise ProblemError(401, "bad-token", "this bearer token does not verify", headers=challenge) from None
        return claims

    def bearer(self, authorization: str | None) -> str:
        """The reader of an Authorization header."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise ProblemError(401, "sign-in-required", "send Authorization: Bearer <token>", headers=_CHALLENGE)
        return self.reader(token.strip())
