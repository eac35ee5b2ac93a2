"""What a response says about time: Retry-After in both forms, Cache-Control max-age, Expires, Age (RFC 9110, 9111).

Pure readings of headers (lower-case names). Nonsense is "not said", never an error and never a shorter wait.
Not here: what we make of it (`schedule.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache

_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
_NO_REUSE = re.compile(r"(?:^|[,\s])(?:no-cache|no-store)\b", re.IGNORECASE)


@lru_cache(maxsize=4_096)  # the same Date comes from many servers in one second, the same Last-Modified with every 304
def stamp(raw: str | None) -> float | None:
    """Seconds since 1970 of an HTTP date, None when absent or unreadable. A date without zone is UTC."""
    if not raw:
        return None
    try:
        parsed = parsedate_to_datetime(raw)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, None when not said or nonsense.

    The date form is compared with the response's own Date, so that a wrong clock of ours does not shorten it.
    """
    raw = headers.get("retry-after", "").strip()
    if raw.isascii() and raw.isdigit():
        return float(raw[:12])
    until = stamp(raw)
    if until is None:
        return None
    said_at = stamp(headers.get("date"))
    wait = until - (now if said_at is None else said_at)
    return wait if wait > 0 else None


def freshness(headers: Mapping[str, str]) -> float:
    """For how many seconds the response says it stays fresh; 0 when it does not say."""
    control = headers.get("cache-control", "")
    if _NO_REUSE.search(control):
        return 0.0
    said = _MAX_AGE.search(control)
    if said:
        age = headers.get("age", "0").strip()
        return max(0.0, float(said.group(1)) - (float(age) if age.isascii() and age.isdigit() else 0.0))
    expires, date = stamp(headers.get("expires")), stamp(headers.get("date"))
    return max(0.0, expires - date) if expires is not None and date is not None else 0.0
