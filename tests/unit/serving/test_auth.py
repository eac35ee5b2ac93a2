"""Bearer tokens: signed by us, with a subject, and with an end."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest

from frontpage.domain.tokens import KeyRing
from serving.auth import Authority
from serving.problems import ProblemError

SECRET = "a-jwt-secret-of-the-tests-only-32-bytes-long"
AUTHORITY = Authority(SECRET, KeyRing.parse("k1:the-only-secret-of-the-tests"))


def token(**claims: Any) -> str:
    return jwt.encode(claims, SECRET, "HS256")


def code(given: str) -> tuple[int, str]:
    with pytest.raises(ProblemError) as error:
        AUTHORITY.reader(given)
    return error.value.status, error.value.kind


def test_a_token_that_ends_later_is_its_readers():
    assert AUTHORITY.reader(token(sub="ann", exp=time.time() + 60)) == AUTHORITY.bearer(
        f"Bearer {token(sub='ann', exp=time.time() + 600)}"
    )


@pytest.mark.parametrize("claims", [{"sub": "ann"}, {"sub": "ann", "exp": None}, {"sub": "ann", "exp": "never"}])
def test_a_token_without_an_end_is_refused(claims: dict[str, Any]):
    assert code(token(**claims)) == (401, "bad-token")
    with pytest.raises(ProblemError) as error:
        AUTHORITY.operator(f"Bearer {token(**claims, role='operator')}")
    assert error.value.status == 401


def test_a_token_that_has_ended_says_so():
    assert code(token(sub="ann", exp=time.time() - 60)) == (401, "token-expired")


def test_a_token_without_a_subject_is_refused():
    assert code(token(exp=time.time() + 60)) == (401, "bad-token")
