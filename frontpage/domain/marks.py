"""Marks that tell look-alike texts apart or show one origin: numbers, days, names, credits, the core of a title.

Rules of thumb over words, for comparing only: what is displayed comes from titles.py, what is linked from entities.py.
"""

from __future__ import annotations

import re
from typing import Final

from frontpage.domain.terms import fold, tokens

_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d.,:/-]*\d|(?<![\w.])\d")
_CAPITALISED: Final = re.compile(r"[^\W\d_][\w'’-]*", re.UNICODE)
_WEEKDAYS: Final = {
    "monday": "d1", "tuesday": "d2", "wednesday": "d3", "thursday": "d4", "friday": "d5", "saturday": "d6",
    "sunday": "d7", "montag": "d1", "dienstag": "d2", "mittwoch": "d3", "donnerstag": "d4", "freitag": "d5",
    "samstag": "d6", "sonntag": "d7", "lunes": "d1", "martes": "d2", "miércoles": "d3", "jueves": "d4",
    "viernes": "d5", "sábado": "d6", "domingo": "d7", "lundi": "d1", "mardi": "d2", "mercredi": "d3", "jeudi": "d4",
    "vendredi": "d5", "samedi": "d6", "dimanche": "d7", "lunedì": "d1", "martedì": "d2", "mercoledì": "d3",
    "giovedì": "d4", "venerdì": "d5", "sabato": "d6", "domenica": "d7",
}  # fmt: skip
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar enero janvier gennaio janeiro", "february feb februar febrero février febbraio",
            "march mar märz marzo mars março", "april apr abril avril aprile", "may mai mayo maggio maio",
            "june jun juni junio juin giugno junho", "july jul juli julio juillet luglio julho",
            "august aug agosto août", "september sep sept septiembre septembre settembre setembro",
            "october oct oktober octubre octobre ottobre outubro", "november nov noviembre novembre novembro",
            "december dec dezember diciembre décembre dicembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
#: Agencies whose reports others reprint, with the names they go by in credit lines.
_AGENCIES: Final = {
    "ap": r"associated press|\bAP\b", "reuters": r"reuters", "afp": r"\bAFP\b|agence france-presse",
    "dpa": r"\bdpa\b", "efe": r"\bEFE\b", "ansa": r"\bANSA\b", "tass": r"\bTASS\b", "interfax": r"interfax",
    "xinhua": r"xinhua", "kyodo": r"kyodo", "pti": r"\bPTI\b|press trust of india", "ani": r"\bANI\b",
    "pa": r"\bPA Media\b|press association", "cp": r"canadian press", "upi": r"\bUPI\b", "bloomberg": r"bloomberg",
    "ttxvn": r"\bTTXVN\b|\bVNA\b", "yonhap": r"yonhap", "lusa": r"\bLusa\b", "apa": r"\bAPA\b", "belga": r"\bbelga\b",
    "cnn": r"cnn newsource|cnn wire", "aap": r"australian associated press|\bAAP\b", "ians": r"\bIANS\b",
}  # fmt: skip
_AGENCY: Final = {
    key: re.compile(pattern if r"\b" in pattern else f"(?i:{pattern})") for key, pattern in _AGENCIES.items()
}
_CREDIT_LINE: Final = re.compile(r"(?i)\b(?:reporting|writing|editing|additional reporting) by ([^.;()\n]{3,80})")

#: Words before "|", ":" or in brackets that name a column, a section or a state of updating rather than the event.
_LABEL: Final = re.compile(
    r"(?i)^\s*(?:\(?(?:update|updated|upd)\s*\d*\)?|live(?: updates?| blog)?|breaking(?: news)?|watch|video|photos?|"
    r"exclusive|opinion|guest column|op-?ed|column|comment(?:ary)?|editorial|just in|eilmeldung|liveticker|"
    r"en vivo|última hora|en direct|ao vivo|diretta|срочно|молния|عاجل|速報|快讯)\s*(?:[|:–—-]|(?<=\)))\s*"
)
_SEPARATOR: Final = re.compile(r"\s+[|–—-]\s+")
#: Standing columns: the same title every day or week, so the title alone says nothing.
_STANDING: Final = re.compile(
    r"(?i)^(?:the )?(?:letters?(?: to the editor)?|corrections?(?: and clarifications)?|front pages?|horoscopes?|"
    r"weather(?: forecast)?|crossword|obituaries|today in history|what'?s on|news in brief|morning briefing|"
    r"evening briefing|newsletter|lottery results|tv guide|editorial|cartoons?|quiz|daily digest)\b"
)


def number_marks(text: str) -> frozenset[str]:
    """Numbers as written, thousands separators dropped: `1,330` and `1330` are one, `2-1` and `1-2` are two."""
    marks = set()
    for found in _NUMBER.findall(text):
        mark = re.sub(r"(?<=\d)[,.](?=\d{3}\b)", "", found)
        marks.add(mark)
    return frozenset(marks)


def day_marks(text: str) -> frozenset[str]:
    """Weekdays (`d1` Monday .. `d7`) and days of months (`m3-4` for 4 March) named in the text."""
    words = tokens(text)
    marks = set()
    for at, word in enumerate(words):
        if word in _WEEKDAYS:
            marks.add(_WEEKDAYS[word])
        elif word in _MONTHS:
            for near in words[max(0, at - 2) : at] + words[at + 1 : at + 2]:
                if near.isascii() and near.isdigit() and 1 <= int(near) <= 31:
                    marks.add(f"m{_MONTHS[word]}-{int(near)}")
                    break
    return frozenset(marks)


def days_differ(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether two texts name other days: a weekday and a date may be one day, and so say nothing of each other."""
    if not left.isdisjoint(right):
        return False
    kinds = [{mark[0] for mark in side} for side in (left, right)]
    return not kinds[0].isdisjoint(kinds[1])


def is_date_word(word: str) -> bool:
    """Whether a folded word names a weekday or a month: capitalised, and no name."""
    return word in _WEEKDAYS or word in _MONTHS


def name_words(title: str, lead: str) -> list[str]:
    """Folded capitalised words, those that begin a sentence left out of the lead; [] for scripts without capitals."""
    names = [word for word in _CAPITALISED.findall(title) if word[0].isupper()]
    begins = True
    for match in re.finditer(r"[\w'’-]+|[.!?:]", lead):
        word = match.group()
        if word in ".!?:":
            begins = True
            continue
        if word[0].isupper() and not begins:
            names.append(word)
        begins = False
    return [token for name in names for token in tokens(name) if len(token) > 1]


def credit_keys(body: str, publisher: str = "") -> frozenset[str]:
    """Agencies named in the first 200 or last 400 characters, and `by:` names of reporting credits anywhere."""
    edges = f"{body[:200]} {body[-400:]} {publisher}"
    keys = {key for key, pattern in _AGENCY.items() if pattern.search(edges)}
    keys.update("by:" + fold(line).strip()[:60] for line in _CREDIT_LINE.findall(body))
    return frozenset(keys)


def core_title(title: str, publisher: str = "", domain: str = "") -> str:
    """The title without site name, section and update labels, for comparing; never emptied."""
    core = " ".join(title.split())
    while True:
        shorter = _LABEL.sub("", core, count=1)
        shorter = _without_site(shorter, publisher, domain)
        if shorter == core or len(shorter) < 3:
            break
        core = shorter
    return core


def is_standing(core: str) -> bool:
    """Whether the title is that of a standing column, whose issues differ only in date and body."""
    return bool(_STANDING.match(core))


def _without_site(title: str, publisher: str, domain: str) -> str:
    parts = _SEPARATOR.split(title)
    for at in range(1, len(parts)):
        if is_site(parts[at], publisher, domain):
            return title[: title.index(parts[at], len(parts[0]))].rstrip(" |–—-")
    for mark in (": ", " - ", " | ", " – ", " — "):
        head, found, rest = title.partition(mark)
        if found and is_site(head, publisher, domain):
            return rest
    return title


def is_site(part: str, publisher: str, domain: str) -> bool:
    """Whether `part` spells the publisher's name or the labels of its domain (`daily.example.com`: Daily Example)."""
    squeezed = _squeeze(part)
    if len(squeezed) < 3:
        return False
    labels = [label for label in domain.casefold().split(".")[:-1] if label not in ("www", "com", "org", "net", "co")]
    spelled = {"".join(labels), "".join(reversed(labels)), *(label for label in labels if len(label) > 3)}
    return squeezed == _squeeze(publisher) or squeezed in spelled


def _squeeze(name: str) -> str:
    return re.sub(r"\W|_", "", re.sub(r"^the ", "", fold(name)))
