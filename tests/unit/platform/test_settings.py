"""Settings: a wrong variable is named as it is set, before anything starts; a secret is never quoted."""

from __future__ import annotations

import pytest

from frontpage.errors import ConfigurationError
from frontpage.settings import Settings, load

WRONG = {
    "FRONTPAGE_PROFILE": "prod",
    "FRONTPAGE_REDIS_MAX_MEMORY": "much",
    "FRONTPAGE_KAFKA_PORT": "-1",
    "FRONTPAGE_REDIS_PORT": "six",
    "FRONTPAGE_SERVING_PORT": "99999",
    "FRONTPAGE_DAGSTER_PORT": "65536",
    "FRONTPAGE_WORLD_PORT": "1.5",
    "FRONTPAGE_PUBLIC_URL": "news.example",
    "FRONTPAGE_SERVING_RATE": "-1",
    "FRONTPAGE_SERVING_BURST": "0",
    "FRONTPAGE_EDITIONS": "en-US,xx-YY",
    "FRONTPAGE_RANK_INTERVAL": "0",
    "FRONTPAGE_REPAIR_INTERVAL": "-600",
    "FRONTPAGE_POLL_FLOOR": "0",
    "FRONTPAGE_POLL_CEILING": "soon",
    "FRONTPAGE_FETCH_TIMEOUT_REAL": "0",
    "FRONTPAGE_AUDIT_FEEDS": "-1",
    "FRONTPAGE_LOG_LEVEL": "loud",
    "REDIS_URL": "localhost:6379",
}
SECRETS = {"FRONTPAGE_TOKEN_KEYS": "a:tooshort", "FRONTPAGE_JWT_SECRET": "thirty-one bytes are not enough"}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_setting_is_named_as_it_is_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, WRONG[name])
    with pytest.raises(ConfigurationError, match=rf"^{name}: (?!Value error)"):
        load()


@pytest.mark.parametrize("name", SECRETS)
def test_a_wrong_secret_is_named_and_not_quoted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, SECRETS[name])
    with pytest.raises(ConfigurationError, match=f"^{name}") as told:
        load()
    assert SECRETS[name].removeprefix("a:") not in str(told.value)


def test_several_wrong_settings_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTPAGE_SERVING_PORT", "99999")
    monkeypatch.setenv("FRONTPAGE_LOG_LEVEL", "loud")
    with pytest.raises(ConfigurationError, match=r"FRONTPAGE_SERVING_PORT: .*; FRONTPAGE_LOG_LEVEL: "):
        load()


def test_production_refuses_what_is_for_development(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTPAGE_PROFILE", "production")
    with pytest.raises(ConfigurationError, match=r"^FRONTPAGE_TOKEN_KEYS must be set"):
        load()


def test_sizes_have_units_and_log_levels_no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTPAGE_REDIS_MAX_MEMORY", "2GiB")
    monkeypatch.setenv("FRONTPAGE_LOG_LEVEL", "debug")
    monkeypatch.setenv("FRONTPAGE_EDITIONS", "en-US, de-DE,")
    found = load()
    assert (found.redis_max_memory, found.log_level, found.editions) == (2 << 30, "DEBUG", "en-US, de-DE,")


def test_the_defaults_are_valid() -> None:
    given = Settings.model_validate({name: field.get_default() for name, field in Settings.model_fields.items()})
    assert given.redis_max_memory == 1 << 30
