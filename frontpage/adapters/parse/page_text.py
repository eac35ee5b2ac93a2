"""The article's text out of the tree, in memory only.

Three ways, cheapest first: the text that the structured data carries; the paragraphs of a clean `article` element;
trafilatura for everything else. Short pages that all three find too short keep their few paragraphs.
"""

from __future__ import annotations

import re
from typing import Any, Final

from frontpage.domain.text import from_markup, plain
from frontpage.domain.wordlists import alternatives

#: From this length on a text is an article's and no teaser's (characters; ideographs count threefold).
ENOUGH: Final = 500
#: Elements from which on a page is left to its paragraphs: trafilatura's time grows faster than the page. The largest
#: article in our captures has 1,500.
_ELEMENT_LIMIT: Final = 10_000
_PARAGRAPH_ENOUGH: Final = 250
_NOISE_TAGS: Final = frozenset(
    {
        "nav",
        "aside",
        "footer",
        "form",
        "figure",
        "figcaption",
        "button",
        "select",
        "dialog",
        "noscript",
        "header",
        "svg",
        "iframe",
    }
)
_NOISE: Final = re.compile(
    r"(?:^|[\s_-])"
    + alternatives(
        r"""
        related share sharing social newsletter promo comments? advert\w* ads? caption byline tags? sidebar
        recommend\w* teaser widget subscribe signup cookie breadcrumbs? paywall outbrain taboola meta dateline
        author-bio read-?more more-?on popular trending footer banner hidden copyright print-?only sr-only
        visually-hidden toolbar
        """
    )
    + r"(?:[\s_-]|$)",
    re.IGNORECASE,
)
_BLOCKS: Final = ("p", "li", "blockquote", "h2", "h3", "pre", "td", "dd")
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def weight(text: str) -> int:
    """Length of a text in characters of alphabetic scripts: ideographs and syllables carry about three."""
    return len(text) + 2 * len(_WIDE.findall(text[:4000]))


def extract(root: Any, structured_body: str, url: str) -> tuple[str, str]:
    """(body text with paragraphs on lines, how it was found: json-ld, article, trafilatura, paragraphs or none)."""
    if structured_body:
        body = _lines(structured_body)
        if weight(body) >= ENOUGH:
            return body, "json-ld"
    container, certain = _container(root)
    own = _paragraphs(container)
    if certain and weight(own) >= ENOUGH:
        return own, "article"
    found = _trafilatura(root, url)
    if weight(found) >= max(_PARAGRAPH_ENOUGH, weight(own) // 2):
        return found, "trafilatura"
    if own:
        return own, "paragraphs"
    if found:
        return found, "trafilatura"
    everything = _paragraphs(root)
    return everything, "paragraphs" if everything else "none"


def _lines(text: str) -> str:
    parts = re.split(r"(?:</p>|<br\s*/?>|\r?\n)+", text)
    return "\n".join(line for part in parts if (line := from_markup(part)))


def _container(root: Any) -> tuple[Any, bool]:
    """The element that holds the article, and whether that is sure enough to leave trafilatura out."""
    bodies = root.xpath("//*[@itemprop='articleBody']")
    if len(bodies) == 1:
        return bodies[0], True
    articles = [a for a in root.iter("article") if not _inside_noise(a)]
    if articles:
        sized = sorted(((_size(article), place) for place, article in enumerate(articles)), reverse=True)
        largest = articles[sized[0][1]]
        second = sized[1][0] if len(sized) > 1 else 0
        nested = len(sized) > 1 and articles[sized[1][1]] in largest.iterdescendants("article")
        has_heading = next(largest.iter("h1"), None) is not None
        return largest, has_heading and not nested and second * 4 < sized[0][0]
    mains = list(root.iter("main"))
    return (mains[0], False) if len(mains) == 1 else (root, False)


def _size(element: Any) -> int:
    return sum(len(p.text_content()) for p in element.iter("p"))


def _inside_noise(element: Any) -> bool:
    return any(_is_noise(parent) for parent in element.iterancestors())


def _is_noise(element: Any) -> bool:
    tag = element.tag
    if tag in _NOISE_TAGS:
        # A page's own header may hold the first paragraph of an article; its navigation never does.
        return True
    if tag in ("html", "body", "article", "main"):
        return False
    marks = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(marks.strip()) and _NOISE.search(marks) is not None


def _paragraphs(container: Any) -> str:
    noisy: dict[Any, bool] = {}
    lines: list[str] = []
    seen: set[str] = set()
    for block in container.iter(*_BLOCKS):
        if _noisy(block, container, noisy):
            continue
        if block.tag in ("blockquote", "td", "dd") and next(block.iter("p", "li"), None) is not None:
            continue
        if block.tag == "li" and (next(block.iter("p"), None) is not None or _link_share(block) > 0.5):
            continue
        text = plain(block.text_content())
        if not text or text in seen or (block.tag == "p" and _link_share(block) > 0.8):
            continue
        seen.add(text)
        lines.append(text)
    return "\n".join(lines)


def _noisy(element: Any, stop: Any, known: dict[Any, bool]) -> bool:
    path = []
    verdict = False
    node = element
    while node is not None and node is not stop:
        if node in known:
            verdict = known[node]
            break
        path.append(node)
        if _is_noise(node):
            verdict = True
            break
        node = node.getparent()
    for passed in path:
        known[passed] = verdict
    return verdict


def _link_share(element: Any) -> float:
    whole = len(element.text_content().strip())
    linked = sum(len(a.text_content()) for a in element.iter("a"))
    return linked / whole if whole else 1.0


def _trafilatura(root: Any, url: str) -> str:
    import trafilatura

    if root.xpath("count(//*)") > _ELEMENT_LIMIT:
        return ""
    try:
        found = trafilatura.bare_extraction(
            root, url=url or None, fast=True, include_comments=False, include_tables=False, with_metadata=False
        )
    except Exception:  # noqa: BLE001 - extraction over hostile markup fails in many ways; the paragraphs remain
        return ""
    text = getattr(found, "text", None) if found is not None else None
    return "\n".join(line for part in str(text or "").splitlines() if (line := plain(part)))
