"""Which address a page's article has: its stated canonical when that can be true, else the address it came from.

rel=canonical is a wish (RFC 6596), and templates print the front page, a section, a comma list or another article
there. A stated address counts when it can name *this* article: it is no front page and no section, and it shares
words or a number with the fetched address or the title. One at another publisher says where the piece comes from.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from frontpage.domain.hosts import registrable_domain
from frontpage.domain.urls import canonicalise, clean_link, fetch_refusal, strip_amp
from frontpage.domain.wordlists import words as _words

_WORD: Final = re.compile(r"[^\W_]+", re.UNICODE)
_FRONT: Final = re.compile(r"/?(?:index|home|default)?(?:\.(?:html?|php|aspx?|jsp))?/?", re.IGNORECASE)
_EDITION_FRONT: Final = re.compile(r"/[a-z]{2}(?:[-_][a-zA-Z]{2})?/?")
_NUMBER: Final = re.compile(r"\d{4,}")
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:[01]\d)?(?:[0-3]\d)?")
_FILE_END: Final = re.compile(r"\.(?:html?|php|aspx?|jsp|ece|story|csp|amp|shtml)$", re.IGNORECASE)
_COMMON: Final = _words(
    "the a an of in on to and for at by with is as from html htm php index news article story the amp mobile print www"
)
#: Folders of lists, never of articles.
_LISTS: Final = _words("tag tags author authors category categories search label autor autores")
#: Registrable domains that publish nothing of their own.
_NETWORKS: Final = _words(
    """
    facebook.com twitter.com x.com instagram.com youtube.com linkedin.com pinterest.com t.me tiktok.com reddit.com
    vk.com
    """
)
_COMMA_LIST: Final = re.compile(r",(?=https?://)")


@dataclass(frozen=True, slots=True)
class Identity:
    """`canonical` is the key, `link` the address in the publisher's own spelling; problems name what was refused."""

    canonical: str
    link: str
    syndicated_from: str | None = None
    problems: tuple[str, ...] = ()


def identify(
    fetched: str,
    *,
    canonicals: Iterable[str] = (),
    og_urls: Iterable[str] = (),
    base: str | None = None,
    title: str = "",
    is_amp: bool = False,
    publisher_domains: Collection[str] = (),
) -> Identity:
    """The identity of the page fetched from `fetched` (absolute http(s)), given what it states about itself.

    Problems: canonical_front_page, canonical_section, canonical_other_article, canonical_conflict, canonical_invalid.
    """
    own = canonicalise(fetched)
    own_key = own.canonical or fetched
    home = _Home(fetched, own_key, publisher_domains)
    problems: list[str] = []
    syndicated: str | None = None
    for group in (_resolved(canonicals, fetched, base, problems), _resolved(og_urls, fetched, base, problems)):
        if len({key for key, _ in group}) > 1:
            problems.append("canonical_conflict")
            continue
        for key, link in group:
            if key == own_key:
                return Identity(own_key, link, syndicated, tuple(dict.fromkeys(problems)))
            if not home.owns(key):
                if syndicated is None and not _is_front(key) and registrable_domain(_host(key)) not in _NETWORKS:
                    syndicated = link
                continue
            refusal = _refusal(own_key, key, title, is_amp=is_amp)
            if refusal:
                problems.append(refusal)
                continue
            return Identity(key, link, syndicated, tuple(dict.fromkeys(problems)))
    return Identity(own_key, own.fetch or fetched, syndicated, tuple(dict.fromkeys(problems)))


class _Home:
    """The publisher that a page was fetched from: its registrable domain and those registered with it."""

    def __init__(self, fetched: str, key: str, domains: Collection[str]) -> None:
        self._domains = {registrable_domain(_host(fetched)), registrable_domain(_host(key))}
        self._domains |= {registrable_domain(domain) for domain in domains}

    def owns(self, key: str) -> bool:
        return registrable_domain(_host(key)) in self._domains


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _resolved(stated: Iterable[str], fetched: str, base: str | None, problems: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    root, _ = clean_link(base, fetched) if base else (None, None)
    for value in stated:
        # "page,video,video": a list where one address belongs; its first is the page.
        first = _COMMA_LIST.split(value.strip())[0]
        link, _ = clean_link(first, root or fetched)
        key = canonicalise(link).canonical if link else None
        if link is None or key is None or _is_inside(link, fetched):
            problems.append("canonical_invalid")
        elif (key, link) not in found:
            found.append((key, link))
    return found


def _is_inside(link: str, fetched: str) -> bool:
    """Whether a stated address is of the publisher's back end: an inside host, or a port that the page has not."""
    own, stated = urlsplit(fetched), urlsplit(link)
    if (own.hostname, own.port) == (stated.hostname, stated.port):
        return False
    bare = "." not in (stated.hostname or "") and ":" not in (stated.hostname or "")
    return bare or fetch_refusal(link) is not None or stated.port not in (None, 80, 443, own.port)


def _is_front(key: str) -> bool:
    parts = urlsplit(key)
    return (
        not parts.query
        and not parts.fragment
        and bool(_FRONT.fullmatch(parts.path) or _EDITION_FRONT.fullmatch(parts.path))
    )


def _refusal(own: str, stated: str, title: str, *, is_amp: bool) -> str | None:
    if _is_front(stated):
        return "canonical_front_page"
    if is_amp and _same_page(strip_amp(own), stated):
        return None
    own_parts, parts = urlsplit(own), urlsplit(stated)
    own_path, path = unquote(own_parts.path).rstrip("/"), unquote(parts.path).rstrip("/")
    if own_path == path or own_path == path + "/amp":
        # The same page without its view parameters, or on another host of the publisher: fine, unless the query is what
        # chooses the article.
        dropped = set(own_parts.query.split("&")) - set(parts.query.split("&"))
        return "canonical_section" if _chooses("&".join(dropped)) else None
    if own_path.startswith(path + "/") or (
        _lists(path) and not _lists(own_path) and not _numbers(own) & _numbers(stated)
    ):
        return "canonical_section"
    return _by_words(own, stated, title)


def _lists(path: str) -> bool:
    """Whether a path leads to a list of articles: a tag, an author, a search."""
    return any(segment in _LISTS for segment in path.casefold().split("/")[:-1])


def _same_page(left: str, right: str) -> bool:
    first, second = urlsplit(canonicalise(left).canonical or left), urlsplit(right)
    return first.path.rstrip("/") == second.path.rstrip("/")


def _chooses(query: str) -> bool:
    return bool(
        re.search(r"(?:^|&)(?:id|p|aid|article|articleid|news|newsid|story|sid|nid|artid|idx|no|num)=", query, re.I)
    )


def _by_words(own: str, stated: str, title: str) -> str | None:
    """Evidence by content: a shared number, shared words, or the title's words in the stated address."""
    mine, theirs = _numbers(own), _numbers(stated)
    if mine & theirs:
        return None
    own_words, words = _slug_words(own), _slug_words(stated)
    title_words = {word.casefold() for word in _WORD.findall(title)} - _COMMON
    if words and len(words & title_words) * 2 >= len(words):
        return None
    if own_words and words:
        shared = len(own_words & words)
        if shared * 2 >= min(len(own_words), len(words)) and shared >= min(2, len(words)):
            return None
    if not own_words and not mine:
        # The fetched address says nothing of its own ("/?p=77"); any article address may be its better name.
        return None if len(words) >= 3 or theirs else "canonical_section"
    if len(words) <= 2 and not theirs:
        return "canonical_section"
    if not own_words and mine and not theirs and len(words) >= 3:
        return None  # a numbered address and its speaking form
    if own_words and not words and theirs and not mine:
        return None  # a speaking address and its numbered form
    return "canonical_other_article"


def _numbers(url: str) -> set[str]:
    parts = urlsplit(url)
    found = set(_NUMBER.findall(unquote(parts.path) + "?" + parts.query))
    return {number for number in found if not _YEAR.fullmatch(number)}


def _slug_words(url: str) -> set[str]:
    path = _FILE_END.sub("", unquote(urlsplit(url).path).rstrip("/"))
    last = path.rpartition("/")[2]
    words = {word.casefold() for word in _WORD.findall(last)}
    return {word for word in words if not word.isdigit() and len(word) > 1} - _COMMON
