"""Signed words that leave the house and come back: click tokens, cursors and the keyed hash of a reader.

For: making and checking them, so that `/r/{token}` needs no look-up, a cursor cannot be made up, and no account id
reaches a topic, table or address. Not for: bearer tokens (JWT, `serving/auth.py`).

A token is `1.{kid}.{payload}.{mac}`: format version, key id, base64url of a JSON array, base64url of the first
16 bytes of HMAC-SHA256 over everything before it (128 bits: NIST SP 800-107 allows truncation to that). The key id
lets keys rotate: the newest key signs, every key in the ring verifies. Bytes depend on the fields and the key
only, so a shared page's tokens are the same for all its readers.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from frontpage.errors import ConfigurationError, UnreadableInput

FORMAT: Final = "1"
MAC_BYTES: Final = 16
#: A token longer than this is refused unread: the longest address we store (2,048) in base64 plus the other fields.
MAX_LENGTH: Final = 4_096
#: How long after its issue a click still counts as a signal: the clustering window of the editions document (48 h).
COUNTED_FOR: Final = 48 * 3_600.0
_KID: Final = re.compile(r"[A-Za-z0-9_-]{1,16}\Z")
_CLICK: Final = "click"


@dataclass(frozen=True, slots=True)
class Key:
    """One signing key. `kid` is public, `secret` is not."""

    kid: str
    secret: bytes


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Keys, newest first. The newest signs; all verify; the oldest keys the reader hashes.

    Reader hashes must survive a rotation, so they hang on the last key: dropping it from the ring forgets
    every reader, which is an operator's decision and not a side effect of adding a key.
    """

    keys: tuple[Key, ...]

    @classmethod
    def parse(cls, text: str) -> KeyRing:
        """From `kid:secret,kid:secret` (newest first); raises ConfigurationError that never quotes a secret."""
        keys: list[Key] = []
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            kid, separator, secret = part.partition(":")
            if not separator or not _KID.match(kid) or len(secret) < 16:
                raise ConfigurationError(
                    f"FRONTPAGE_TOKEN_KEYS: key {len(keys) + 1} is not kid:secret (secret: 16 characters or more)"
                )
            keys.append(Key(kid, secret.encode()))
        if not keys:
            raise ConfigurationError("FRONTPAGE_TOKEN_KEYS is empty")
        if len({key.kid for key in keys}) != len(keys):
            raise ConfigurationError("FRONTPAGE_TOKEN_KEYS names one key id twice")
        return cls(tuple(keys))

    def sign(self, purpose: str, payload: Sequence[object]) -> str:
        """A token over a JSON array; `purpose` keeps a cursor from passing as a click."""
        key = self.keys[0]
        raw = json.dumps(list(payload), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        head = f"{FORMAT}.{key.kid}.{_encode(raw)}"
        return f"{head}.{_encode(_mac(key, purpose, head))}"

    def verify(self, purpose: str, token: str) -> list[object]:
        """The array inside; raises UnreadableInput (`malformed-token`, `unknown-key`, `forged-token`)."""
        parts = token.split(".")
        if len(token) > MAX_LENGTH or len(parts) != 4 or parts[0] != FORMAT:
            raise UnreadableInput("not a token of ours", cause="malformed-token")
        key = next((key for key in self.keys if key.kid == parts[1]), None)
        if key is None:
            raise UnreadableInput("signed with a key we do not have", cause="unknown-key")
        head = token.rpartition(".")[0]
        if not token.isascii() or not hmac.compare_digest(_encode(_mac(key, purpose, head)), parts[3]):
            raise UnreadableInput("the signature does not verify", cause="forged-token")
        try:
            payload = json.loads(_decode(parts[2]))
        except (ValueError, binascii.Error):
            raise UnreadableInput("signed, but not readable", cause="malformed-token") from None
        if not isinstance(payload, list):
            raise UnreadableInput("signed, but not an array", cause="malformed-token")
        return payload

    def reader_hash(self, user: str) -> str:
        """24 hex digits (96 bits) for an account id: the only name of a reader in topics, tables and keys."""
        return hmac.new(self.keys[-1].secret, b"reader\x00" + user.encode(), sha256).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class ClickToken:
    """What a click says about itself. Anonymous when `reader` is None: then equal for all readers of a page.

    `issued_at` is virtual seconds; on shared pages it is the page's own time, never the request's.
    """

    url: str
    article_id: str
    story_id: str
    publisher_id: str
    surface: str
    section: str
    position: int
    edition: str
    issued_at: float
    reader: str | None = None
    impression_id: str | None = None

    def counts_at(self, now: float) -> bool:
        """False for a token older than COUNTED_FOR: it still redirects and is not a signal."""
        return now - self.issued_at <= COUNTED_FOR


def is_web_address(url: str) -> bool:
    """Only absolute http(s) addresses with a host and without credentials or control characters are redirected to."""
    if any(ord(character) <= 32 or ord(character) == 127 for character in url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and "@" not in parts.netloc and "\\" not in url


def sign_click(ring: KeyRing, click: ClickToken) -> str:
    """The token; raises UnreadableInput (`not-a-web-address`) rather than sign an address we must not send to."""
    if not is_web_address(click.url):
        raise UnreadableInput(f"will not sign {click.url[:80]!r}", cause="not-a-web-address")
    fields: list[object] = [
        click.url, click.article_id, click.story_id, click.publisher_id, click.surface, click.section,
        click.position, click.edition, int(click.issued_at),
    ]  # fmt: skip
    if click.reader is not None or click.impression_id is not None:
        fields += [click.reader, click.impression_id]
    return ring.sign(_CLICK, fields)


def read_click(ring: KeyRing, token: str) -> ClickToken:
    """The click in a token; raises UnreadableInput with its cause for anything that we did not sign."""
    fields = ring.verify(_CLICK, token)
    if len(fields) not in (9, 11):
        raise UnreadableInput("a click token of another shape", cause="malformed-token")
    url, article, story, publisher, surface, section, position, edition, issued = fields[:9]
    words = (url, article, story, publisher, surface, section, edition)
    if not all(isinstance(word, str) for word in words) or not isinstance(position, int) or not isinstance(issued, int):
        raise UnreadableInput("a click token with fields of the wrong type", cause="malformed-token")
    if not is_web_address(str(url)):
        raise UnreadableInput("a click token without a web address", cause="not-a-web-address")
    reader, impression = (fields[9], fields[10]) if len(fields) == 11 else (None, None)
    return ClickToken(
        str(url), str(article), str(story), str(publisher), str(surface), str(section), position, str(edition),
        float(issued), str(reader) if reader else None, str(impression) if impression else None,
    )  # fmt: skip


def _mac(key: Key, purpose: str, head: str) -> bytes:
    return hmac.new(key.secret, f"{purpose}\x00{head}".encode(), sha256).digest()[:MAC_BYTES]


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
