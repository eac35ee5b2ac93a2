"""The kind of a page and whether it is locked: what its markup states, then the form and the style of its text.

Stated kinds win. A text is judged only when the page says "news" or nothing, and never against a stated kind of report.
Not here: the rules (`domain/page_kind`, `domain/kind_forms`, `domain/kind_cues`).
"""

from __future__ import annotations

from typing import Any, Final

from frontpage.adapters.parse.html_tree import Page
from frontpage.adapters.parse.kind_model import opinion_model
from frontpage.adapters.parse.readings import Kind
from frontpage.adapters.parse.structured import Structured, describes_other
from frontpage.domain.kind_cues import argues
from frontpage.domain.kind_forms import GATED_MOST, checks_a_claim, is_gated, is_live_blog
from frontpage.domain.page_kind import kind_of

#: Types by which a publisher says that a piece is a report, whatever its style.
_REPORTS: Final = frozenset(
    {"reportagenewsarticle", "analysisnewsarticle", "backgroundnewsarticle", "reviewnewsarticle"}
)
_TELLING: Final = ("opinionnewsarticle", "liveblogposting", "claimreview")
#: Characters of the box that offers the rest of an article.
_SENTENCES: Final = 600
_LOCKED_TIERS: Final = ("locked", "metered", "paid", "premium")


def page_kind(page: Page, data: Structured, url: str, *, section: str, title: str, text: str, language: str) -> Kind:
    """The kind of the page at `url`; `text` is its body, `language` that of the text."""
    types = data.types or _microdata(page)
    if page.first("article:opinion").lower() == "true":
        types = types | {"opinionnewsarticle"}
    kind = kind_of(
        url,
        types=types,
        section=section,
        labels=(*page.meta.get("article:section", ()), *data.sections, *data.breadcrumbs[:-1]),
        title=title,
        og_type=page.first("og:type").lower(),
        is_other=describes_other(data.page_types),
    )
    if kind != "news":
        return kind
    if checks_a_claim(title, text):
        return "fact_check"
    if is_live_blog(title, text):
        return "live"
    if not types & _REPORTS and argues(title, text, language.partition("-")[0], opinion_model()):
        return "opinion"
    return "news"


def _microdata(page: Page) -> set[str]:
    """Telling types of a page without JSON-LD, when no other article stands beside: teasers have types, too."""
    stated = [str(value).rpartition("/")[2].lower() for value in page.root.xpath("//@itemtype")[:40]]
    articles = {name for name in stated if name in _TELLING or name.endswith(("article", "posting"))}
    return articles if len(articles) == 1 and stated.count(next(iter(articles))) == 1 else set()


def is_paywalled(page: Page, data: Structured, text: str) -> bool:
    """What the markup says; where it is silent, a short text beside a sentence that offers the rest to subscribers."""
    if data.free is not None:
        return not data.free
    tier = page.first("article:content_tier", "cxenseparse:content_tier").lower()
    if tier:
        return tier in _LOCKED_TIERS
    stated = page.first("isaccessibleforfree").lower()
    if stated:
        return stated == "false"
    if len(text) >= GATED_MOST:
        return False  # said here, too, because a page's words cost more than the question
    return is_gated(text, page.root.text_content()) and _offers_the_rest(page.root, text)


def _offers_the_rest(root: Any, text: str) -> bool:
    """Whether the sentence is in sight: many templates carry it hidden on free pages."""
    for element in root.iter("p", "div", "section", "span", "a", "button", "strong", "h2", "h3", "h4"):
        said = element.text_content()
        if 0 < len(said) <= _SENTENCES and is_gated(text, said):
            return not any(_hidden(one) for one in (element, *element.iterancestors()))
    return False


def _hidden(element: Any) -> bool:
    style = (element.get("style") or "").replace(" ", "").lower()
    return "hidden" in element.attrib or element.get("aria-hidden") == "true" or "display:none" in style
