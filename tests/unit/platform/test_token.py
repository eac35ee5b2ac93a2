"""`frontpage token`: a token for trying things out, for a time that makes sense."""

from __future__ import annotations

import jwt
import pytest
import typer
from typer.testing import CliRunner

from frontpage.settings import Settings
from frontpage_cli.commands import system


def token(*words: str) -> tuple[int, str]:
    app = typer.Typer()
    system.register(app)
    result = CliRunner().invoke(app, ["token", "--user", "ann", *words])
    return result.exit_code, result.stdout.strip()


def test_a_token_says_who_and_until_when() -> None:
    code, told = token("--hours", "2")
    claims = jwt.decode(told, Settings().jwt_secret.get_secret_value(), algorithms=["HS256"])
    assert (code, claims["sub"], claims["exp"] - claims["iat"]) == (0, "ann", 7200)


@pytest.mark.parametrize("hours", ["nan", "-1", "inf", "1e300", "soon"])
def test_a_time_that_makes_no_sense_is_a_usage_error(hours: str) -> None:
    assert token("--hours", hours) == (2, "")
