"""All settings, read from the environment once, by process entry points only.

Everything has a default that runs embedded on one machine. README's configuration table documents each field; a
test fails when one is missing there. Contract names (KAFKA_BOOTSTRAP_SERVERS, REDIS_URL, SPARK_REMOTE, SPARK_MASTER,
LAKE_URI) are used as they are; all others carry the prefix FRONTPAGE_.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    ByteSize,
    Field,
    PositiveFloat,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from frontpage.domain.editions import EDITIONS
from frontpage.domain.tokens import KeyRing
from frontpage.errors import ConfigurationError

LOG_LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
#: RFC 7518, section 3.2: a key of HS256 is as long as its hash, or longer.
JWT_SECRET_BYTES: Final = 32
REDIS_SCHEMES: Final = ("redis://", "rediss://", "unix://")


def _log_level(text: str) -> str:
    if text.upper() not in LOG_LEVELS:
        raise ValueError(f"is one of {', '.join(LOG_LEVELS)}, not {text!r}")
    return text.upper()


Port = Annotated[int, Field(ge=0, le=65535)]
LogLevel = Annotated[str, AfterValidator(_log_level)]


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
    #: Bytes, or with a unit: 2GiB.
    redis_max_memory: ByteSize = ByteSize(1 << 30)
    kafka_port: Port = 0
    redis_port: Port = 0
    serving_port: Port = 8080
    dagster_port: Port = 3000
    #: Address that serving listens on.
    serving_host: str = "127.0.0.1"
    #: Public address of the API and page, for absolute links in feeds; empty means http://127.0.0.1:SERVING_PORT.
    public_url: str = ""
    #: Requests a second that one client may sustain (0: no limit), and at once.
    serving_rate: float = Field(100.0, ge=0)
    serving_burst: int = Field(400, ge=1)
    #: Comma-separated addresses of proxies whose X-Forwarded-For is believed.
    trusted_proxies: str = ""
    world_port: Port = 0
    #: Where the made-up hosts of the sample world resolve to, "127.0.0.1:PORT"; development profile only.
    resolver: str | None = None
    operator_contact: str = "https://frontpage.example/contact"
    #: Signs click tokens and reader hashes; "kid:secret" pairs, newest first, comma separated.
    token_keys: SecretStr = SecretStr("dev1:development-only-secret-not-for-production")
    #: Signs bearer tokens (HS256, at least 32 bytes).
    jwt_secret: SecretStr = SecretStr("development-only-secret-not-for-production")
    rank_interval: PositiveFloat = 60.0
    repair_interval: PositiveFloat = 600.0
    editions: str = ""
    encoder_en: str = "minilm"
    encoder_other: str = "use"
    poll_floor: PositiveFloat = 60.0
    poll_ceiling: PositiveFloat = 3600.0
    #: Feeds that are also polled at their floor, to measure the schedule; at most a twentieth of all feeds.
    audit_feeds: int = Field(300, ge=0)
    fetch_timeout_real: PositiveFloat = 20.0
    log_level: LogLevel = "INFO"
    #: Which of several replicas of one process this is; part of its transactional id, so unique among them.
    worker: str = "0"

    @field_validator("redis_url")
    @classmethod
    def _redis_has_a_scheme(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(REDIS_SCHEMES):
            raise ValueError(f"begins with {', '.join(REDIS_SCHEMES)}, as in redis://HOST:6379/0")
        return url

    @field_validator("public_url")
    @classmethod
    def _public_url_is_one(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError(f"begins with http:// or https://, not {url!r}")
        return url

    @field_validator("editions")
    @classmethod
    def _editions_exist(cls, text: str) -> str:
        unknown = sorted({name.strip() for name in text.split(",")} - {"", *EDITIONS})
        if unknown:
            raise ValueError(f"names unknown editions ({', '.join(unknown)}); known are {', '.join(EDITIONS)}")
        return text

    @field_validator("token_keys")
    @classmethod
    def _token_keys_parse(cls, keys: SecretStr) -> SecretStr:
        KeyRing.parse(keys.get_secret_value())
        return keys

    @field_validator("jwt_secret")
    @classmethod
    def _jwt_secret_is_long(cls, secret: SecretStr) -> SecretStr:
        if len(secret.get_secret_value().encode()) < JWT_SECRET_BYTES:
            raise ValueError(f"has fewer than {JWT_SECRET_BYTES} bytes")
        return secret

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
    """Settings from the environment; raises ConfigurationError that names each wrong variable, never its secret."""
    try:
        return Settings()
    except ValidationError as error:
        raise ConfigurationError("; ".join(_told(one["loc"], one["msg"]) for one in error.errors())) from None


def _told(place: tuple[int | str, ...], message: str) -> str:
    """`FRONTPAGE_SERVING_PORT: Input should be ...`: the variable as it is set, not the field behind it."""
    name = str(place[0]) if place else ""
    if name in Settings.model_fields:
        name = f"FRONTPAGE_{name.upper()}"
    message = message.removeprefix("Value error, ")
    return f"{name}: {message}" if name else message
