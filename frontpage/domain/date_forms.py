"""Spellings of dates that `dates` need not know: each becomes a plain one here, the rest is left as it is.

Eras (Reiwa, Minguo), the Persian calendar, week dates, half days before or after a clock, dotted years, labels in
front and second dates behind. Pure text to text; nothing is guessed: what two calendars could mean stays unread.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from frontpage.domain.wordlists import names

_AM: Final = r"a\.?m\.?|오전|上午|午前|πμ|π\.μ\.|dop\.|sáng|صباحا"
_PM: Final = r"p\.?m\.?|오후|下午|午後|μμ|μ\.μ\.|odp\.|chiều|tối|مساء"
_CLOCK: Final = r"(?P<h>\d{1,2})(?P<rest>:\d{2}(?::\d{2})?)"
_HALF_BEHIND: Final = re.compile(rf"(?<![\d:.]){_CLOCK}\s?(?:(?P<am>{_AM})|(?P<pm>{_PM}))(?![\w])", re.IGNORECASE)
_HALF_BEFORE: Final = re.compile(rf"(?<!\w)(?:(?P<am>{_AM})|(?P<pm>{_PM}))\s?{_CLOCK}(?![\d:])", re.IGNORECASE)
_DOTTED: Final = re.compile(r"(?<![\d.])(\d{4})\.\s?(\d{1,2})\.\s?(\d{1,2})\.?(?=\s|$)")
_ERA: Final = re.compile(r"(令和|平成|昭和|民國|民国)\s?(元|\d{1,3})(?=\s?年)")
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
_WEEK: Final = re.compile(r"(\d{4})-?W(\d\d)-?([1-7])(?!\d)")
_VIETNAMESE: Final = re.compile(r"(?:ngày )?(\d{1,2}) tháng (\d{1,2})(?:,| năm)* (\d{4})", re.IGNORECASE)
_THAI_SHORT: Final = re.compile(r"([\u0e01-\u0e2e][\u0e34\u0e35]?)\.([\u0e01-\u0e2e])\.")
_HEBREW_IN: Final = re.compile(r"(?<=\d )ב-?(?=[\u05d0-\u05ea]{3})")
_DOT_CLOCK: Final = re.compile(
    r"(?:(?<=kl\. )|(?<=kl )|(?<=klo )|(?<=pukul )|(?<=jam )|(?<=ore ))(\d{1,2})\.(\d{2})(?!\.?\d)"
    r"|(?<![\d.])(\d{1,2})\.(\d{2})(?= ?(?:wib|wita|wit|uhr)\b)",
    re.IGNORECASE,
)
#: An IANA name says where a clock stands; without tables of its history it is no offset.
_PLACE: Final = re.compile(r"\s?\[?\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Pacific)/[\w/+-]+\]?")
#: "+0100 (Central European Standard Time)": the number has said it.
_NAMED_AGAIN: Final = re.compile(r"(?<=\d\d)\s?\([A-Za-z .]{2,50}\)$")
_LABEL: Final = re.compile(r"^[^\d:|]{3,40}:\s+(?=\D{0,20}\d)")
_SECOND: Final = re.compile(
    r"\s*(?:[|•·]\s*)?(?:(?:last )?updated|modified|aktualisiert|geändert|mis à jour|modifié|actualizado|atualizado"
    r"|aggiornato|bijgewerkt|обновлено|güncelleme)\b.*$",
    re.IGNORECASE,
)

_SOLAR_MONTHS: Final = names("فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند")
_SOLAR_WORDS: Final = re.compile(rf"(?<!\d)(\d{{1,2}})\s+({'|'.join(_SOLAR_MONTHS)})\s+(?:ماه\s+)?(1[34]\d\d)(?!\d)")
_SOLAR_NUMBERS: Final = re.compile(r"(?<!\d)(1[34]\d\d)([/-])(\d{1,2})\2(\d{1,2})(?!\d)")
#: 1 Farvardin 979.
_SOLAR_START: Final = date(1600, 3, 20)
#: Days before each Persian month: six of 31, five of 30.
_SOLAR_DAYS: Final = tuple(31 * n if n < 7 else 186 + 30 * (n - 6) for n in range(12))


#: What nearly every feed writes, and means the same in any language: RFC 822 with the year of RFC 1123.
_RFC_822: Final = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?(\d\d?) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) "
    r"(\d\d:\d\d:\d\d) (GMT|UTC|[+-]\d{4})",
    re.ASCII,
)
_ISO_8601: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)", re.ASCII)
_MONTH: Final = {
    name: number for number, name in enumerate(names("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"), 1)
}


def usual(raw: str) -> str | None:
    """The two forms that most feeds write, as ISO 8601, for which there is nothing to tidy; None for all others."""
    found = _RFC_822.fullmatch(raw)
    if found is None:
        return raw if _ISO_8601.fullmatch(raw) else None
    day, month, year, clock, zone = found.groups()
    return f"{year}-{_MONTH[month]:02d}-{day}T{clock}{zone}"


def tidy(text: str) -> str:
    """`text` (digits already plain, white space single) in a spelling that `dates` reads, or as it was."""
    text = _SECOND.sub("", text) or text
    text = _LABEL.sub("", text)
    text = _NAMED_AGAIN.sub("", _PLACE.sub("", text))
    text = _ERA.sub(_era, text)
    text = _SOLAR_WORDS.sub(lambda m: _solar(m[3], _SOLAR_MONTHS.index(m[2]) + 1, m[1], m[0]), text)
    text = _SOLAR_NUMBERS.sub(lambda m: _solar(m[1], int(m[3]), m[4], m[0]), text)
    text = _WEEK.sub(_week, text)
    text = _VIETNAMESE.sub(lambda m: f"{m[3]}-{int(m[2]):02d}-{int(m[1]):02d}", text)
    text = _DOTTED.sub(r"\1-\2-\3", text)
    text = _THAI_SHORT.sub(r"\1\2", text)
    text = _HEBREW_IN.sub("", text)
    text = _DOT_CLOCK.sub(lambda m: f"{m[1] or m[3]}:{m[2] or m[4]}", text)
    return _HALF_BEFORE.sub(_half, _HALF_BEHIND.sub(_half, text))


def american_offset(name: str, year: int, month: int, day: int) -> int | None:
    """Seconds east of UTC of "ET", "CT", "MT" or "PT" on a day of 2007 or later (Energy Policy Act of 2005)."""
    standard = {"ET": -5, "CT": -6, "MT": -7, "PT": -8}.get(name)
    if standard is None or year < 2007:
        return None
    try:
        today = date(year, month, day)
    except ValueError:
        return None
    march, november = date(year, 3, 1), date(year, 11, 1)
    summer = march + timedelta(days=(6 - march.weekday()) % 7 + 7)
    winter = november + timedelta(days=(6 - november.weekday()) % 7)
    return (standard + (summer <= today < winter)) * 3600


def _half(match: re.Match[str]) -> str:
    hour = int(match["h"])
    if hour > 12:  # "14:05 pm" is a template's slip: the hour says it
        return f"{match['h']}{match['rest']}"
    hour = hour % 12 + (12 if match["pm"] else 0)
    return f"{hour:02d}{match['rest']}"


def _era(match: re.Match[str]) -> str:
    year = 1 if match[2] == "元" else int(match[2])
    return str(_ERAS[match[1]] + year) if year else match[0]


def _week(match: re.Match[str]) -> str:
    try:
        return date.fromisocalendar(int(match[1]), int(match[2]), int(match[3])).isoformat()
    except ValueError:
        return match[0]


def _solar(year: str, month: int, day: str, raw: str) -> str:
    """A day of the Persian calendar as ISO (the 33-year cycle, exact for 1244 to 1530)."""
    number = int(day)
    longest = 31 if month <= 6 else 30
    if not (1 <= month <= 12 and 1 <= number <= longest):
        return raw
    shifted = int(year) - 979
    days = 365 * shifted + shifted // 33 * 8 + (shifted % 33 + 3) // 4 + _SOLAR_DAYS[month - 1] + number - 1
    return (_SOLAR_START + timedelta(days=days)).isoformat()
