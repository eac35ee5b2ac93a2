"""Bearer tokens for trying things out; a real deployment issues them from its own sign-in service."""

from __future__ import annotations

import time

import jwt

from frontpage.errors import ConfigurationError
from frontpage.settings import Settings


def development_token(settings: Settings, user: str, hours: float, operator: bool = False) -> str:
    """An HS256 token with `sub`, `iat`, `exp`, for an operator `role`; raises ConfigurationError in production."""
    if settings.profile == "production":
        raise ConfigurationError("`frontpage token` works in the development profile only")
    if not user.strip():
        raise ConfigurationError("--user must not be empty")
    now = int(time.time())
    claims: dict[str, str | int] = {"sub": user, "iat": now, "exp": now + int(hours * 3600)}
    if operator:
        claims["role"] = "operator"
    return jwt.encode(claims, settings.jwt_secret.get_secret_value(), algorithm="HS256")
