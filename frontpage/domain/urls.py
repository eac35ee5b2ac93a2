"""Addresses of articles: what may be a link at all, and the one spelling that identifies an article.

Two forms of one address (design, "Identity"): the *fetch* form keeps the publisher's own spelling and is what is
requested and linked; the *canonical* form is the key, and its hash is the article's id. Canonicalising is
idempotent and touches only what cannot name another article: spelling (RFC 3986, WHATWG URL), tracking parameters,
plain fragments, the order of differently named parameters. AMP, mobile and proxy forms fall only on evidence: the
address of an AMP cache carries the publisher's address, some wrappers and number.amp ids are rules kept per
form; everything else (rel=canonical, origin links of feeds) is evidence that `pages` and `feeds` weigh.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, urljoin, urlsplit

from frontpage.domain.hosts import USUAL_PORTS, ascii_host, host_refusal, registrable_domain
from frontpage.domain.tracking import tracking_reason

__all__ = ["Canonical", "canonicalise", "clean_link", "fetch_refusal", "inspect_address", "registrable_domain"]

MAX_URL: Final = 4096  # longer addresses are attacks or data: URLs; servers refuse them (8 kB request lines)

#: What nearly every address is: lower-case names, nothing to decode or to doubt. A label of letters last is no number.
_USUAL: Final = re.compile(
    r"https?://(?=.{1,253}(?:[/?#]|$))(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?"
    r"(?:[/?#][A-Za-z0-9/._~!$&'()*+,;=:@%?#-]*)?"
)
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_PERCENT: Final = re.compile(r"%[0-9a-fA-F]{2}")
_LONE_PERCENT: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
#: Halves of surrogate pairs, which JSON can spell, are no characters: nothing that has one can be encoded or sent.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE: Final = "!$&'()*+,;=:@/%[]|^`{}"
_QUERY_SAFE: Final = _PATH_SAFE + "?"
_NUMBER_AMP: Final = re.compile(r"(/(?:[^/]*[-/])?\d{4,})\.amp$")
#: Servlet containers write it for clients without cookies (Jakarta Servlet 6, 7.1.3).
_SESSION: Final = re.compile(r"(?:;(?:jsessionid|phpsessid)=[\w.!~-]*)+$", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"^(?:amp;)+")
_HASH_ROUTE: Final = re.compile(r"!?/[^\s]+")
_PAGE_FILE: Final = re.compile(r"/(?!index\.)[^/]+\.(?:html?|php|aspx?|jsp|amp)$", re.IGNORECASE)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Removed:
    """One piece that the canonical form leaves out, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Canonical:
    """`canonical` is the key, `fetch` the address to request and to link; both None when `refused` says why."""

    url: str
    canonical: str | None
    fetch: str | None
    removed: tuple[Removed, ...] = ()
    refused: str | None = None


def clean_link(raw: str | None, base: str | None = None) -> tuple[str | None, str | None]:
    """(absolute http(s) address in the publisher's own spelling, None) or (None, cause). Never raises.

    Causes: empty, control-character, backslash, markup, scheme, userinfo, bad-host, bad-port, too-long, relative.
    Tabs and line ends are removed first, as browsers do, so `java\\nscript:` is seen for what it is.
    """
    if raw is not None and len(raw) <= MAX_URL and _USUAL.fullmatch(raw):
        return raw, None
    text = (raw or "").strip(" \t\r\n\x0b\x0c\u00a0\ufeff")
    text = re.sub(r"[\t\r\n]+[ ]*", "", text)
    if not text:
        return None, "empty"
    if len(text) > MAX_URL:
        return None, "too-long"
    if _CONTROL.search(text):
        return None, "control-character"
    if "\\" in text:
        return None, "backslash"
    if any(mark in text for mark in '<>"'):
        return None, "markup"
    if not _is_absolute(text):
        if _SCHEME.match(text):
            return None, "scheme"
        if base is None or not _is_absolute(base):
            return None, "relative"
        try:
            text = urljoin(base, text)
        except ValueError:
            return None, "bad-host"
    text = text.replace(" ", "%20")
    cause = _authority_refusal(text)
    return (None, cause) if cause else (text, None)


def _is_absolute(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://"))


def _authority_refusal(text: str) -> str | None:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        return "bad-port" if "port" in str(error).lower() else "bad-host"
    if parts.scheme.lower() not in _DEFAULT_PORTS:
        return "scheme"
    if "@" in parts.netloc:
        return "userinfo"
    if port == 0:
        return "bad-port"
    return None if _host_of(parts.netloc) else "bad-host"


def _host_of(netloc: str) -> str | None:
    bare = netloc.rpartition("@")[2]
    if bare.startswith("["):
        return ascii_host(bare[: bare.find("]") + 1])
    return ascii_host(unquote(bare.partition(":")[0]))


def canonicalise(url: str, base: str | None = None) -> Canonical:
    """The identity of an address; see the module's text. `refused` judges the syntax only, never the target.

    >>> canonicalise("HTTP://N.Example.com:80/a/../b?utm_source=x&c=1#top").canonical
    'https://n.example.com/b?c=1'
    """
    fetch, cause = clean_link(url, base)
    if fetch is None:
        return Canonical(url, None, None, (), cause)
    removed: list[Removed] = []
    inner = _unwrap(fetch, removed)
    parts = urlsplit(inner)
    host = _host_of(parts.netloc) or ""
    port = parts.port
    scheme = parts.scheme.lower()
    if port == _DEFAULT_PORTS[scheme]:
        port = None
    if port is None and scheme == "http":
        # One article before and after a move to https. Only the key: the request keeps its own scheme.
        scheme = "https"
    path = _normal_path(parts.path)
    while (bare := _SESSION.sub("", path)) != path:
        removed.append(Removed(path[len(bare) :], "session: names a visit, not a page"))
        path = _normal_path(bare)
    shorter = _NUMBER_AMP.sub(r"\1", path)
    if shorter != path:
        removed.append(Removed(path[len(shorter) :], "amp: a numbered page and its .amp form are one article"))
        path = shorter
    query = _normal_query(parts.query, host, removed)
    fragment = _normal_fragment(parts.fragment, path, removed)
    netloc = host if port is None else f"{host}:{port}"
    canonical = f"{scheme}://{netloc}{path}" + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")
    if len(canonical) > MAX_URL:
        # a key that is itself no link could be looked up by nobody; encoding makes three characters of one, or more
        return Canonical(url, None, None, (), "too-long")
    return Canonical(url, canonical, _without_fragment(inner, keep=bool(fragment)), tuple(removed))


def canonical_key(url: str, base: str | None = None) -> str | None:
    """Only the key, or None when the address is no link."""
    return canonicalise(url, base).canonical


def fetch_refusal(url: str) -> str | None:
    """Why an address must not be requested, judged by its text: syntax, then host and port. None when it may be."""
    fetch, cause = clean_link(url)
    if fetch is None:
        return cause
    parts = urlsplit(fetch)
    host = _host_of(parts.netloc) or ""
    refusal = host_refusal(host)
    if refusal:
        return refusal
    return None if parts.port is None or parts.port in USUAL_PORTS else "port"


def inspect_address(url: str) -> Canonical:
    """`canonicalise`, with internal targets refused too: what `frontpage inspect url` shows."""
    result = canonicalise(url)
    refused = result.refused or fetch_refusal(result.fetch or url)
    if refused:
        return Canonical(url, None, None, (), refused)
    return result


def _without_fragment(url: str, *, keep: bool) -> str:
    return url if keep else url.partition("#")[0]


def normal_percent(text: str, safe: str) -> str:
    """Percent-encoding in one spelling (RFC 3986, 6.2.2): upper-case digits, unreserved decoded, illegal encoded."""

    def one(match: re.Match[str]) -> str:
        character = chr(int(match.group()[1:], 16))
        return character if character in _UNRESERVED else match.group().upper()

    text = _LONE_PERCENT.sub("%25", text)
    text = _PERCENT.sub(one, text)
    # A decoded percent sign cannot appear: "%" itself is reserved, so quoting below leaves every code alone.
    return quote(text.encode("utf-8", "replace"), safe=safe)


def _normal_path(path: str) -> str:
    segments: list[str] = []
    parts = (path or "/").split("/")[1:] if path.startswith("/") or not path else path.split("/")
    for place, segment in enumerate(parts):
        plain = normal_percent(segment, _PATH_SAFE.replace("/", ""))
        last = place == len(parts) - 1
        if plain == ".":
            if last:
                segments.append("")
        elif plain == "..":
            if segments:
                segments.pop()
            if last:
                segments.append("")
        else:
            segments.append(plain)
    return "/" + "/".join(segments)


def _normal_query(query: str, host: str, removed: list[Removed]) -> str:
    kept: list[tuple[str, str]] = []
    for raw in query.split("&"):
        # Escaped once too often in a feed, "&amp;" still stands between two parameters.
        piece = _ESCAPED.sub("", raw)
        if not piece:
            continue
        name, _, value = piece.partition("=")
        why = tracking_reason(unquote(name), unquote(value), host)
        if why:
            removed.append(Removed(piece, why))
            continue
        plain = normal_percent(piece, _QUERY_SAFE)
        kept.append((plain.partition("=")[0], plain))
    # Stable: parameters of one name keep their order, because repeats are a list.
    kept.sort(key=lambda pair: pair[0])
    return "&".join(piece for _, piece in kept)


def _normal_fragment(fragment: str, path: str, removed: list[Removed]) -> str:
    if not fragment:
        return ""
    route = fragment.partition(":~:")[0]
    if _HASH_ROUTE.fullmatch(route) and (route.startswith("!") or not _PAGE_FILE.search(path)):
        return normal_percent(route, _QUERY_SAFE + "#")
    removed.append(Removed("#" + fragment, "fragment: names a place in the page, not another page"))
    return ""


_AMP_CACHE: Final = re.compile(r"(?:^|\.)(?:cdn\.ampproject\.org|bing-amp\.com)$")
_AMP_CACHE_PATH: Final = re.compile(r"/(?:[a-z]/)?(s/)?([^/]+\.[^/]+/.*)", re.DOTALL)
_GOOGLE: Final = re.compile(r"(?:www|news|amp)\.google\.(?:[a-z]{2,3}|com?\.[a-z]{2})")
#: Redirect wrappers whose own query names the target: host, path, parameters (a rule kept per site).
_WRAPPERS: Final = (
    (_GOOGLE, "/url", ("url", "q")),
    (re.compile(r"lm?\.facebook\.com"), "/l.php", ("u",)),
    (re.compile(r"l\.instagram\.com"), "/", ("u",)),
    (re.compile(r"(?:www\.)?youtube\.com"), "/redirect", ("q",)),
    (re.compile(r"t\.umblr\.com"), "/redirect", ("z",)),
    (re.compile(r"out\.reddit\.com"), None, ("url",)),
    (re.compile(r"steamcommunity\.com"), "/linkfilter/", ("url", "u")),
)


def _unwrap(url: str, removed: list[Removed], depth: int = 0) -> str:
    if depth > 3:
        return url
    parts = urlsplit(url)
    host = _host_of(parts.netloc) or ""
    target: str | None = None
    why = ""
    amp = False
    if _AMP_CACHE.search(host) or (_GOOGLE.fullmatch(host) and parts.path.startswith("/amp/")):
        path = parts.path.removeprefix("/amp") if parts.path.startswith("/amp/") else parts.path
        match = _AMP_CACHE_PATH.fullmatch(path)
        if match:
            scheme = "https" if match.group(1) else "http"
            target = f"{scheme}://{match.group(2)}" + (f"?{parts.query}" if parts.query else "")
            why, amp = "amp: the cache's address carries the publisher's", True
    else:
        for pattern, wanted, names in _WRAPPERS:
            if pattern.fullmatch(host) and (wanted is None or parts.path == wanted):
                target = _parameter(parts.query, names)
                why = "wrapper: the redirect's address carries the target"
    if target is None:
        return url
    inner, _ = clean_link(target)
    if inner is None:
        return url
    removed.append(Removed(f"{parts.scheme}://{parts.netloc}{parts.path}"[:120], why))
    return _unwrap(strip_amp(inner) if amp else inner, removed, depth + 1)


def _parameter(query: str, names: tuple[str, ...]) -> str | None:
    for piece in query.split("&"):
        name, _, value = piece.partition("=")
        if name in names and value:
            return unquote(value)
    return None


_AMP_QUERY: Final = re.compile(r"(?:^|&)(?:amp(?:=(?:1|true|yes)?)?|outputType=amp)(?=&|$)", re.IGNORECASE)
_AMP_PATH: Final = re.compile(r"(?:\.amp(?=\.html?$|$)|/amp/?$|(?<=\.html)/amp$)", re.IGNORECASE)


def strip_amp(url: str) -> str:
    """The address without its AMP mark (`.amp`, `/amp`, `?amp=1`). Call it only with evidence that the mark is one."""
    head, _, fragment = url.partition("#")
    address, _, query = head.partition("?")
    start = address.find("/", 8)
    if start > 0:
        path = _AMP_PATH.sub("", address[start:])
        address = address[:start] + (path or "/")
    query = _AMP_QUERY.sub("", query).lstrip("&")
    return address + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")
