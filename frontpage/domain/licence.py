"""The licence boundary in code: what of a publisher's text may be kept and shown.

Stored of a page are headline, snippet (200 characters at most, or none), thumbnail where allowed, metadata and
derived features (design, "Licence boundary"). The body is used in memory and dropped by whoever called the parser.
"""

from __future__ import annotations

from typing import Final

from frontpage.domain import text

SNIPPET_LIMIT: Final = 200


def clip(snippet: str, allowed: bool) -> str:
    """At most 200 characters cut at a word boundary, or nothing where the licence forbids snippets."""
    return text.clip(text.plain(snippet), SNIPPET_LIMIT) if allowed else ""
