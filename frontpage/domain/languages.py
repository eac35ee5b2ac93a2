"""Which partition a language's articles live in, and which way its script runs.

The map is explicit, never a hash (design, "Language to partition"): one language is in exactly one
partition, so it has exactly one writer, and two writers never share a partition's offsets. Small
languages share the last partition and its writer. Changing a row is a migration: drain, then move.
"""

from __future__ import annotations

import re
from typing import Final

#: language (BCP 47 primary subtag) -> partition of the language-keyed topics.
PARTITION_OF: Final[dict[str, int]] = {
    "en": 0,
    "es": 1,
    "de": 2,
    "fr": 3,
    "pt": 4,
    "it": 5,
    "ru": 6,
    "ar": 7,
    "ja": 8,
    "zh": 9,
    "vi": 10,
}
#: All other languages, and "und" (undetermined), share this partition and its one writer.
SHARED_PARTITION: Final = 11
LANGUAGE_PARTITIONS: Final = 12

#: Languages written right to left (Unicode CLDR, scripts Arab, Hebr, Thaa, Syrc).
RIGHT_TO_LEFT: Final = frozenset({"ar", "fa", "he", "ur", "ps", "yi", "dv", "sd", "ug", "ku"})


#: The form of BCP 47 with "_" allowed; 35 characters hold every tag in use (RFC 5646, 4.4.1).
_TAG: Final = re.compile(r"(?=.{2,35}\Z)[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")


def language_tag(text: str) -> str | None:
    """A publisher's word on its language if that has the form of a tag, else None: what is kept is never longer."""
    return text if _TAG.fullmatch(text) else None


def primary_subtag(tag: str | None) -> str:
    """`pt-BR` -> `pt`; empty, malformed or unknown -> `und`."""
    subtag = (tag or "").replace("_", "-").split("-")[0].strip().lower()
    return subtag if subtag.isalpha() and 2 <= len(subtag) <= 3 else "und"


def partition_of(language: str) -> int:
    """Partition of `articles.normalised`, `story.changes` and `story.proposals` for a language tag."""
    return PARTITION_OF.get(primary_subtag(language), SHARED_PARTITION)


def direction(language: str) -> str:
    """`rtl` or `ltr`, for the `dir` attribute of cards."""
    return "rtl" if primary_subtag(language) in RIGHT_TO_LEFT else "ltr"
