"""What counts as the same text and the same headline, and a first guess of an article's quality. Pure functions.

Hashes are of normalised words, so that white space, case and punctuation of another template are no new version.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from frontpage.domain.ids import digest

if TYPE_CHECKING:
    from streaming.ingest.pages import Draft

_WORD: Final = re.compile(r"\w+", re.UNICODE)
#: Below so many words a text is a stub, a consent wall or a caption, which many addresses of a site share.
OWN_WORDS: Final = 40
#: A text of this many words is as long as a report gets credit for.
FULL_WORDS: Final = 400


def content_hash(text: str) -> str:
    """20 hex digits of a text's words."""
    return digest(" ".join(_words(text)))


def title_hash(title: str) -> str:
    """16 hex digits of a headline's words."""
    return digest(" ".join(_words(title)), 16)


def own_text(body: str) -> bool:
    """Whether a text is long enough to say that two addresses hold one article."""
    return len(_WORD.findall(body)) >= OWN_WORDS


def quality(draft: Draft) -> float:
    """0..1: how much an article states of itself. A stand-in until the batch layer's `article_quality` is there."""
    if draft.from_feed:
        return 0.2
    length = min(len(_WORD.findall(draft.body)) / FULL_WORDS, 1.0)
    stated = (bool(draft.authors), draft.published_at is not None, bool(draft.image), not draft.problems)
    return round(0.4 * length + 0.15 * sum(stated), 3)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
