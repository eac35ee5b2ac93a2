"""All settings, read from the environment once, by process entry points only.

Everything has a default that runs embedded on one machine. README's configuration table documents each field; a
test fails when one is missing there. Contract names (KAFKA_BOOTSTRAP_SERVERS, REDIS_URL, SPARK_REMOTE, SPARK_MASTER,
LAKE_URI) are used as they are; all others carry the prefix FRONTPAGE_.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from frontpage.errors import ConfigurationError


class Settings(BaseSettings):
    """Durations are virtual seconds unless the name says real; sizes are bytes."""

    model_config = SettingsConfigDict(env_prefix="FRONTPAGE_", extra="ignore", populate_by_name=True)

    profile: Literal["production", "development"] = "development"
    var: Path = Path("var")
    cache: Path = Path.home() / ".cache" / "frontpage"
    kafka_bootstrap_servers: str | None = Field(None, validation_alias=AliasChoices("KAFKA_BOOTSTRAP_SERVERS"))
    redis_url: str | None = Field(None, validation_alias=AliasChoices("REDIS_URL"))
    spark_remote: str | None = Field(None, validation_alias=AliasChoices("SPARK_REMOTE"))
    spark_master: str | None = Field(None, validation_alias=AliasChoices("SPARK_MASTER"))
    lake_uri: str | None = Field(None, validation_alias=AliasChoices("LAKE_URI"))
    redis_max_memory: int = 1 << 30
    kafka_port: int = 0
    redis_port: int = 0
    serving_port: int = 8080
    dagster_port: int = 3000
    #: Address that serving listens on.
    serving_host: str = "127.0.0.1"
    #: Public address of the API and page, for absolute links in feeds; empty means http://127.0.0.1:SERVING_PORT.
    public_url: str = ""
    #: Requests a second that one client may sustain (0: no limit), and at once.
    serving_rate: float = 100.0
    serving_burst: int = 400
    #: Comma-separated addresses of proxies whose X-Forwarded-For is believed.
    trusted_proxies: str = ""
    world_port: int = 0
    #: Where the made-up hosts of the sample world resolve to, "127.0.0.1:PORT"; development profile only.
    resolver: str | None = None
    operator_contact: str = "https://frontpage.example/contact"
    #: Signs click tokens and reader hashes; "kid:secret" pairs, newest first, comma separated.
    token_keys: SecretStr = SecretStr("dev1:development-only-secret-not-for-production")
    #: Signs bearer tokens (HS256, at least 32 bytes).
    jwt_secret: SecretStr = SecretStr("development-only-secret-not-for-production")
    rank_interval: float = 60.0
    repair_interval: float = 600.0
    editions: str = ""
    encoder_en: str = "minilm"
    encoder_other: str = "use"
    poll_floor: float = 60.0
    poll_ceiling: float = 3600.0
    fetch_timeout_real: float = 20.0
    log_level: str = "INFO"
    #: Which of several replicas of one process this is; part of its transactional id, so unique among them.
    worker: str = "0"

    @model_validator(mode="after")
    def _production_is_strict(self) -> Self:
        if self.profile == "production":
            if self.resolver:
                raise ValueError("FRONTPAGE_RESOLVER is for the development profile only")
            for name in ("token_keys", "jwt_secret"):
                if "development-only" in getattr(self, name).get_secret_value():
                    raise ValueError(f"FRONTPAGE_{name.upper()} must be set in the production profile")
        elif self.resolver and any((self.kafka_bootstrap_servers, self.redis_url, self.lake_uri)):
            addresses = (self.kafka_bootstrap_servers or "", self.redis_url or "", self.lake_uri or "")
            if any(address and not _is_local(address) for address in addresses):
                raise ValueError("FRONTPAGE_RESOLVER is set while a production address is configured")
        return self


def _is_local(address: str) -> bool:
    return any(mark in address for mark in ("127.0.0.1", "localhost", "[::1]")) or address.startswith(
        ("/", "file:", "var")
    )


def load() -> Settings:
    """Settings from the environment; raises ConfigurationError with one line per wrong setting."""
    try:
        return Settings()
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors()]
        raise ConfigurationError("; ".join(lines)) from None
