"""Plain text out of anything: no markup, no control characters, single white space; sentences, script, direction.

Every text that leaves the parsers has passed `plain` or `from_markup`, so nothing further on (logs, JSON, HTML, old
databases) meets a control character, a bidi override or a tag.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

from frontpage.domain.mojibake import repaired
from frontpage.domain.wordlists import words

#: HTML elements that end a line; any other tag is removed without a trace.
_BLOCKS: Final = words(
    """
    p div br li ul ol h1 h2 h3 h4 h5 h6 tr td th table blockquote section article header footer hr dd dt dl pre figure
    """
)
#: Elements whose content is no text. Left open, a script or style runs to the end, as browsers read it.
_RUN_TO_END: Final = frozenset({"script", "style"})
_DROPPED: Final = _RUN_TO_END | {"template", "noscript", "svg", "iframe", "object", "textarea"}
_DECLARATION: Final = re.compile(r"<!doctype[^<>]*>|<!\[CDATA\[|\]\]>", re.IGNORECASE)
#: A tag is a name of a known element; "5 <6 and x>3" and "<b2b>" are text.
_ELEMENTS: Final = (
    "a|abbr|acronym|address|applet|area|article|aside|audio|b|base|basefont|bdi|bdo|bgsound|big|blink|blockquote|body|br|"
    "button|canvas|caption|center|cite|code|col|colgroup|data|datalist|dd|del|details|dfn|dialog|dir|div|dl|dt|em|embed|"
    "fieldset|figcaption|figure|font|footer|form|frame|frameset|h[1-6]|head|header|hgroup|hr|html|i|iframe|image|img|"
    "input|ins|kbd|label|legend|li|link|main|map|mark|marquee|math|menu|meta|meter|nav|nobr|noembed|noframes|noscript|"
    "object|ol|optgroup|option|output|p|param|picture|pre|progress|q|rp|rt|ruby|s|samp|script|section|select|slot|small|"
    "source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|time|title|tr|"
    "track|tt|u|ul|var|video|wbr|xml|xmp|o:p"
)
_TAG: Final = re.compile(rf"<(/?)({_ELEMENTS})(?:[\s/][^<>]*)?/?>", re.IGNORECASE)
_OPEN_TAG: Final = re.compile(rf"<(?:{_ELEMENTS})\s+[^<>]*\Z", re.IGNORECASE)
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_BREAKS: Final = re.compile("[\x0b\x0c\x85\u2028\u2029]")
_SPACE: Final = re.compile(r"\s+")


def plain(text: str | None) -> str:
    """Control characters, bidi overrides and invisible marks out, white space single, NFC. Idempotent."""
    if not text:
        return ""
    text = _BREAKS.sub(" ", text)
    return _SPACE.sub(" ", unicodedata.normalize("NFC", _CONTROL.sub("", text))).strip()


def from_markup(text: str | None) -> str:
    """Plain text of an HTML fragment, or of text that may be one: tags out, character references read once."""
    return plain(_unmarked(text)) if text else ""


def headline(text: str | None) -> str:
    """`from_markup` of a title, which is repaired where it was read in a wrong character set (`mojibake.py`)."""
    return plain(repaired(_unmarked(text))) if text else ""


def _unmarked(text: str) -> str:
    if "<" in text:
        text = _strip_tags(text)
    if "&" in text:
        text = html.unescape(text)
        # Escaped once too often, a tag is still a tag: it must not come out as live markup.
        if "<" in text:
            text = _strip_tags(text)
    return text


def _strip_tags(text: str) -> str:
    """Each step is linear in the text whatever is left open in it, because hostile markup is all open ends."""
    text = _without(_without(text, "<!--", "-->"), "<?", "?>")
    text = _DECLARATION.sub(" ", text)
    return _OPEN_TAG.sub("", _without_elements(text, _DROPPED))


def _without(text: str, opening: str, closing: str) -> str:
    """Spans from `opening` to `closing` vanish, also inside a word; of one never closed, what is before a `>` does."""
    if opening not in text:
        return text
    kept: list[str] = []
    place = 0
    while (start := text.find(opening, place)) >= 0:
        kept.append(text[place:start])
        end = text.find(closing, start + len(opening))
        if end < 0:
            rest = text[start:].replace(opening, "")
            head, mark, tail = rest.partition(">")
            kept.append(tail if mark and "<" not in head else rest)
            break
        place = end + len(closing)
    else:
        kept.append(text[place:])
    # what came together must not make a mark of its own: "<!<!-- x -->-- y"
    joined = "".join(kept)
    return joined.replace(opening, " ") if opening in joined else joined


def _without_elements(text: str, dropped: frozenset[str]) -> str:
    kept: list[str] = []
    place = 0
    inside: re.Match[str] | None = None
    for match in _TAG.finditer(text):
        name = match[2].lower()
        if inside is not None:
            if match[1] and name == inside[2].lower():
                inside, place = None, match.end()
            continue
        kept.append(text[place : match.start()])
        place = match.end()
        if name in _BLOCKS:
            kept.append(" ")
        if name in dropped and not match[1]:
            inside = match
    if inside is None:
        kept.append(text[place:])
    elif inside[2].lower() not in _RUN_TO_END:
        kept.append(_without_elements(text[inside.end() :], _RUN_TO_END))
    return "".join(kept)


def clip(text: str, length: int) -> str:
    """At most `length` characters, cut at a word boundary, with an ellipsis when something was cut."""
    if len(text) <= length:
        return text
    if length <= 0:
        return ""
    head = text[: length - 1]
    if not text[length - 1].isspace():
        cut = max(head.rfind(" "), head.rfind("、"), head.rfind("。"), head.rfind("，"))
        # Scripts without spaces are cut between characters; so is one endless word.
        if cut >= length // 2:
            head = head[:cut]
    return head.rstrip(" ,;:–—-") + "…"


_ABBREVIATIONS: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|gen|sen|rep|gov|lt|col|sgt|no|nr|vs|etc|inc|ltd|co|corp|jan|feb|mar|apr|jun|jul|aug|"
    r"sept?|oct|nov|dec|bzw|ca|u\.a|z\.b|d\.h|sr|sra|ee|uu|av|mme|mlle|m|hr|fr|г|ул|им|тыс|млн|млрд|т\.е|[a-z])|"
    r"(?:^|\s)\d{1,2})\.$",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[.!?…؟۔।]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』”）]*")


def sentences(text: str, limit: int) -> list[str]:
    """The first `limit` sentences; abbreviations and ordinals ("3. März") do not end one."""
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if len(found) == limit:
            return found
        end = match.end()
        head = text[start:end]
        following = text[end : end + 2].strip()
        if head.endswith(".") and (_ABBREVIATIONS.search(head[-12:]) or following[:1].islower()):
            continue
        if head.strip():
            found.append(head.strip())
        start = end
    rest = text[start:].strip()
    if rest and len(found) < limit:
        found.append(rest)
    return found


def direction_of(text: str) -> str | None:
    """`rtl` or `ltr` by the majority of letters, None without letters. Not by the first letter: one Latin name at the
    head of an Arabic headline turns nothing round.
    """
    right = left = 0
    for character in text[:2000]:
        kind = unicodedata.bidirectional(character)
        if kind in ("R", "AL"):
            right += 1
        elif kind == "L":
            left += 1
    if not right and not left:
        return None
    return "rtl" if right > left else "ltr"


_RANGES: Final = (
    ("Latn", "A", "Z"), ("Latn", "a", "z"), ("Latn", "\u00c0", "\u024f"), ("Latn", "\u1e00", "\u1eff"),
    ("Grek", "\u0370", "\u03ff"), ("Cyrl", "\u0400", "\u052f"), ("Armn", "\u0531", "\u058f"),
    ("Hebr", "\u0590", "\u05ff"), ("Arab", "\u0600", "\u06ff"), ("Arab", "\u0750", "\u077f"),
    ("Arab", "\ufb50", "\ufefc"), ("Deva", "\u0900", "\u097f"), ("Beng", "\u0980", "\u09ff"),
    ("Guru", "\u0a00", "\u0a7f"), ("Gujr", "\u0a80", "\u0aff"), ("Taml", "\u0b80", "\u0bff"),
    ("Telu", "\u0c00", "\u0c7f"), ("Knda", "\u0c80", "\u0cff"), ("Mlym", "\u0d00", "\u0d7f"),
    ("Sinh", "\u0d80", "\u0dff"), ("Thai", "\u0e00", "\u0e7f"), ("Laoo", "\u0e80", "\u0eff"),
    ("Mymr", "\u1000", "\u109f"), ("Geor", "\u10a0", "\u10ff"), ("Ethi", "\u1200", "\u139f"),
    ("Khmr", "\u1780", "\u17ff"), ("Kana", "\u3040", "\u30ff"), ("Hani", "\u3400", "\u4dbf"),
    ("Hani", "\u4e00", "\u9fff"), ("Hang", "\uac00", "\ud7af"), ("Hang", "\u1100", "\u11ff"),
)  # fmt: skip
_SCRIPT_RUNS: Final = tuple((script, re.compile(f"[{low}-{high}]")) for script, low, high in _RANGES)


def script_counts(text: str) -> dict[str, int]:
    """Letters per script (ISO 15924 codes) in the first 2,000 characters."""
    counts: dict[str, int] = {}
    head = text[:2000]
    for script, pattern in _SCRIPT_RUNS:
        number = len(pattern.findall(head))
        if number:
            counts[script] = counts.get(script, 0) + number
    return counts
