"""schema.org data of a page (JSON-LD): the object that describes the article, with every field doubted.

Templates print broken JSON, arrays where objects belong, lists of other articles beside the one of the page; so the
reading is forgiving in form and strict in types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from frontpage.domain.text import from_markup, headline, plain
from frontpage.domain.wordlists import words

_ARTICLE_TYPES: Final = frozenset(
    {
        "article", "newsarticle", "reportagenewsarticle", "opinionnewsarticle", "analysisnewsarticle",
        "backgroundnewsarticle", "reviewnewsarticle", "askpublicnewsarticle", "blogposting", "liveblogposting",
        "socialmediaposting", "satiricalarticle", "advertisercontentarticle", "techarticle", "scholarlyarticle",
        "report", "claimreview",
    }
)  # fmt: skip
_OTHER_TYPES: Final = words(
    """
    product recipe jobposting event videoobject podcastepisode collectionpage searchresultspage profilepage aboutpage
    contactpage faqpage itemlist
    """
)
_TRAILING_COMMA: Final = re.compile(r",(\s*[}\]])")
#: Comment and CDATA marks that old templates put around a script's text.
_WRAPPER: Final = re.compile(
    r"^\s*(?:<!--|/\*\s*<!\[CDATA\[\s*\*/|//\s*<!\[CDATA\[|<!\[CDATA\[)"
    r"|(?:-->|/\*\s*\]\]>\s*\*/|//\s*\]\]>|\]\]>)\s*;?\s*$|;\s*$"
)
_OBJECTS: Final = 400
_DEPTH: Final = 6


@dataclass(slots=True)
class Structured:
    """`types` are lower-case schema.org types of the article object; `page_types` those of all objects."""

    types: set[str] = field(default_factory=set)
    page_types: set[str] = field(default_factory=set)
    headline: str = ""
    description: str = ""
    body: str = ""
    published: str = ""
    modified: str = ""
    sections: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    image: str = ""
    publisher: str = ""
    language: str = ""
    free: bool | None = None
    url: str = ""
    breadcrumbs: list[str] = field(default_factory=list)


def read_structured(scripts: list[str]) -> Structured:
    """The article that the JSON-LD scripts of one page describe; empty fields when they describe none."""
    objects = [found for text in scripts for found in _objects(_load(text), 0)][:_OBJECTS]
    named = {
        str(found["@id"]): found for found in objects if found.get("@id") and (found.get("name") or found.get("url"))
    }
    result = Structured()
    articles = []
    for found in objects:
        types = _types(found)
        result.page_types |= types
        if types & _ARTICLE_TYPES:
            articles.append(found)
        if "breadcrumblist" in types and not result.breadcrumbs:
            result.breadcrumbs = _breadcrumbs(found)
    for name in articles:
        # Teasers of other articles carry a headline and an address, the article of the page carries its dates.
        if _string(name, "datePublished") or _string(name, "articleBody") or len(articles) == 1:
            _fill(result, _joined(name, named))
            break
    else:
        if articles:
            _fill(result, _joined(articles[0], named))
    for found in articles:
        result.types |= _types(found) & {"liveblogposting", "claimreview"}
    return result


def _joined(node: dict[str, Any], named: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The article with its references to people and pictures of the same graph followed, one step."""

    def follow(value: Any) -> Any:
        if isinstance(value, list):
            return [follow(part) for part in value[:20]]
        if isinstance(value, dict) and "@id" in value and not (value.get("name") or value.get("url")):
            return named.get(str(value["@id"]), value)
        return value

    return node | {key: follow(node[key]) for key in ("author", "creator", "publisher", "image") if key in node}


def _load(text: str) -> Any:
    text = _WRAPPER.sub("", text)
    for candidate in (text, _TRAILING_COMMA.sub(r"\1", text)):
        try:
            return json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _objects(node: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEPTH:
        return
    if isinstance(node, list):
        for part in node[:_OBJECTS]:
            yield from _objects(part, depth + 1)
    elif isinstance(node, dict):
        if "@type" in node:
            yield node
        for key in ("@graph", "mainEntity", "mainEntityOfPage", "hasPart", "itemReviewed", "review"):
            if isinstance(node.get(key), list | dict):
                yield from _objects(node[key], depth + 1)


def _types(node: dict[str, Any]) -> set[str]:
    stated = node.get("@type")
    names = stated if isinstance(stated, list) else [stated]
    return {name.rpartition("/")[2].lower() for name in names if isinstance(name, str)}


def _string(node: dict[str, Any], name: str) -> str:
    value = node.get(name)
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
    return value if isinstance(value, str) else ""


def _fill(result: Structured, node: dict[str, Any]) -> None:
    result.types = _types(node)
    result.headline = headline(_string(node, "headline") or _string(node, "name"))
    result.description = from_markup(_string(node, "description"))
    result.body = _string(node, "articleBody")
    result.published = plain(_string(node, "datePublished") or _string(node, "dateCreated"))
    result.modified = plain(_string(node, "dateModified"))
    result.sections = _names(node.get("articleSection"))
    result.keywords = _keywords(node.get("keywords"))
    result.authors = _names(node.get("author")) or _names(node.get("creator"))
    result.image = _image(node.get("image")) or _image(node.get("thumbnailUrl"))
    result.publisher = next(iter(_names(node.get("publisher"))), "")
    result.language = plain(_string(node, "inLanguage"))
    result.url = plain(_string(node, "url") or _string(node, "mainEntityOfPage"))
    result.free = _free(node)


def _free(node: dict[str, Any]) -> bool | None:
    """What the article says of itself, else what it says of a part: a locked part is how many templates say it."""
    parts = node.get("hasPart")
    for one in (node, *(parts if isinstance(parts, list) else [parts])[:20]):
        free = one.get("isAccessibleForFree") if isinstance(one, dict) else None
        if isinstance(free, str):
            free = {"false": False, "true": True}.get(free.strip().lower().rpartition("/")[2])
        if isinstance(free, bool) and (one is node or not free):
            return free
    return None


def _names(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else [value]
    names = []
    for part in parts[:20]:
        name = part.get("name") if isinstance(part, dict) else part
        if isinstance(name, list):
            names += [from_markup(inner) for inner in name if isinstance(inner, str)]
        elif isinstance(name, str):
            names.append(from_markup(name))
    return [name for name in dict.fromkeys(names) if name]


def _image(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("url") or value.get("contentUrl") or value.get("@id")
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, str) else ""


def _keywords(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else (value.split(",") if isinstance(value, str) else [])
    words = [from_markup(part if isinstance(part, str) else _image(part)) for part in parts[:40]]
    return [word for word in dict.fromkeys(words) if 0 < len(word) <= 80]


def _breadcrumbs(node: dict[str, Any]) -> list[str]:
    names = []
    for item in node.get("itemListElement") or []:
        if isinstance(item, dict):
            inner = item.get("item")
            name = _string(item, "name") or (_string(inner, "name") if isinstance(inner, dict) else "")
            if name:
                names.append(from_markup(name))
    return names[:8]


def describes_other(types: set[str]) -> bool:
    """Whether a page without an article object is stated to be something that is no article."""
    return bool(types & _OTHER_TYPES) and not types & _ARTICLE_TYPES
