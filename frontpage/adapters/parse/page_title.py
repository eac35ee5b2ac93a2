"""The headline of a page: what its heading, its social title, its structured data and its title element agree on.

Cutting the site's name is `domain.titles`; this module chooses between the texts that a page offers.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from frontpage.adapters.parse.html_tree import Page
from frontpage.adapters.parse.structured import Structured
from frontpage.domain.text import clip, from_markup
from frontpage.domain.titles import alike, strip_site_name

#: Characters of a headline that are kept.
TITLE_LIMIT: Final = 500
_TITLE_META: Final = ("dc.title", "parsely-title", "sailthru.title", "title")


def page_title(page: Page, data: Structured, names: list[str], url: str) -> str:
    """The page's headline: what its heading, its social title and its structured data agree on.

    The title element wins only when it ends in the site's name, so that it is known where it ends, and words the same
    headline otherwise: many papers keep a shortened text for sharing and the full one there.
    """
    host = urlsplit(url).hostname or ""
    stated = [
        title
        for raw in (page.first("og:title", "twitter:title"), data.headline, page.title, page.first(*_TITLE_META))
        if (title := strip_site_name(from_markup(raw), names, host)) and not _is_name(title, names, host)
    ]
    heading = _main_heading(page, names, host)
    if not stated:
        return clip(heading or strip_site_name(from_markup(page.title), names), TITLE_LIMIT)
    chosen = stated[0]
    if heading and any(alike(heading, title) >= _ALIKE for title in stated):
        # The shorter of two that agree: a heading may hold a by-line, a head title the section and the site.
        inside = [title for title in stated if title != heading and heading.startswith(title) and len(title) >= 15]
        chosen = inside[0] if inside else heading
    element = strip_site_name(page.title, names, host)
    # A much shorter element is cut for search engines, unless heading and social title differ as well.
    agreed = _key(heading) == _key(stated[0])
    if (
        (not agreed or len(element) * 4 >= len(chosen) * 3)
        and element != page.title
        and alike(element, chosen) >= _RELATED
        and not (element.startswith(chosen) or chosen.startswith(element))
        and not element.endswith(("…", "..."))
    ):
        chosen = element if _key(element) != _key(chosen) else chosen
    return clip(chosen, TITLE_LIMIT)


def _key(title: str) -> str:
    return "".join(c for c in title.casefold() if c.isalnum())


#: From this likeness on two texts may word one headline; below it, one of them is a template's.
_RELATED: Final = 0.3
#: From this likeness on (letter pairs, 0..1) a heading is a spelling of the stated title and not another text.
_ALIKE: Final = 0.75


def _main_heading(page: Page, names: list[str], host: str) -> str:
    for heading in page.headings:
        title = strip_site_name(heading, names, host)
        if not _is_name(title, names, host) and len(title) <= TITLE_LIMIT:
            return title
    return ""


def _is_name(title: str, names: list[str], host: str) -> bool:
    return _key(title) in {_key(name) for name in [*names, host, host.removeprefix("www.")]}
