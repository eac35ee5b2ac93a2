"""Template words of a source: slogans and rubrics that a publisher writes beside most of its headlines.

The site's stated names leave a headline when its page is read (`titles.py`); what no markup states ("Always first with
the weather", the name of a parent group) is learnt from the headlines themselves: a first or last part, behind a
separator, that stands in most of a publisher's titles says nothing of any of them. Not for labels of single articles
("Opinion |"), which a reader sees and comparing leaves out (`marks.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from frontpage.domain.titles import strip_site_name, title_parts

#: Titles of a publisher below which nothing is learnt, and the share of them that makes a part a slogan. Set by hand:
#: "most titles", and enough of them that a running story is not the whole sample.
ENOUGH: Final = 20
MOST: Final = 0.5
#: Characters of the longest part that is looked at: slogans are short.
LONGEST: Final = 60


def ends(title: str) -> list[str]:
    """The first and the last part of a title of several parts, where they are short enough to be slogans."""
    parts = title_parts(title)
    return sorted({part for part in (parts[0], parts[-1]) if 0 < len(part) <= LONGEST}) if len(parts) > 1 else []


def is_slogan(titles: int, articles: int) -> bool:
    """Whether a part in so many titles of so many is a slogan."""
    return articles >= ENOUGH and titles > MOST * articles


def without(title: str, slogans: Iterable[str]) -> str:
    """The title without its publisher's slogans; never emptied, as `strip_site_name` promises."""
    known = list(slogans)
    return strip_site_name(title, known) if known else title
