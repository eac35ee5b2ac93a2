"""Dates as publishers write them: what is unambiguous becomes an instant, all else None (first sight decides then).

A wrong instant is worse than none: it puts an article into another year, or pins it to the top. So each
accepted form names day, month and year beyond doubt; numbers that fit two readings ("07/08/2026") are refused
unless the language settles them; years before 1990 and far in the future are dropped. A time without a zone is
read as UTC and says so. Ranking trusts only first-seen time; these dates are for showing and for ties.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange, timegm
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

from frontpage.domain.date_forms import american_offset, tidy, usual
from frontpage.domain.date_words import AFTERNOON, DAY_FIRST, FILLERS, MORNING, ZONES
from frontpage.domain.languages import primary_subtag
from frontpage.domain.month_names import MONTHS, WEEKDAYS

#: How far ahead of us a publisher's clock may be before its date counts as nonsense: a day covers every zone error.
FUTURE_TOLERANCE: Final = 86_400.0
#: Dates further ahead than this are misread or jokes; the reading itself is dropped.
FAR_FUTURE: Final = 366 * 86_400.0
EARLIEST: Final = 631_152_000.0  # 1990-01-01: no web page is older

MAX_RAW: Final = 120


@dataclass(frozen=True, slots=True)
class DateReading:
    """`instant` seconds since epoch UTC or None; `offset` seconds east of UTC as stated, None when unstated.

    problems: empty, unreadable, ambiguous, out_of_range, no_zone, unknown_zone, day_only, far_future, future_date.
    """

    raw: str
    instant: float | None = None
    zone_known: bool = False
    day_only: bool = False
    offset: int | None = None
    problems: tuple[str, ...] = ()


def parse_date(raw: object, *, language: str | None = None, now: float | None = None) -> DateReading:
    """Reads one date. `language` (BCP 47) settles month names and, for slashes, which number is the day."""
    original = str(raw) if raw is not None else ""
    text = usual(original) or (tidy(_plain(original)) if len(original) <= MAX_RAW * 4 else _plain(original))
    if not text:
        return DateReading(original, problems=("empty",))
    if len(text) > MAX_RAW:
        return DateReading(original, problems=("unreadable",))
    subtag = primary_subtag(language)
    for read in (_iso, _epoch, _cjk, _words):
        found = read(text, subtag)
        if isinstance(found, str):
            return DateReading(original, problems=(found,))
        if found is not None:
            return _checked(original, found, now)
    return DateReading(original, problems=("unreadable",))


def effective_time(published_at: float | None, first_seen_at: float) -> float:
    """What an item is ranked and sorted by: its stated time when that is sane and not later than first sight."""
    if published_at is None or published_at < EARLIEST:
        return first_seen_at
    return min(published_at, first_seen_at)


def not_in_future(reading: DateReading, now: float) -> tuple[float | None, tuple[str, ...]]:
    """(instant or None, problems): a date later than `now` plus the tolerance is no date of publication."""
    problems = tuple(p for p in reading.problems if p != "future_date")
    if reading.instant is None or reading.instant <= now:
        return reading.instant, problems
    kept = reading.instant if reading.instant <= now + FUTURE_TOLERANCE else None
    return kept, (*problems, "future_date")


def settle(doubtful: float | None, trusted: float | None) -> tuple[float | None, str | None]:
    """Joins two sources of one publication time, for example a news sitemap and a feed.

    When they differ by whole half hours up to 14 h, the doubtful source glues a wrong zone onto its clock: the
    trusted instant wins and the second value says by how much the source is off ("offset +02:00 doubtful").
    """
    if trusted is None or doubtful is None:
        return (trusted if doubtful is None else doubtful), None
    shift = trusted - doubtful
    halves = round(shift / 1800)
    if 0 < abs(halves) <= 28 and abs(shift - halves * 1800) < 60:
        return trusted, f"offset {'+' if halves > 0 else '-'}{abs(halves) // 2:02d}:{abs(halves) % 2 * 30:02d} doubtful"
    return trusted, None


def iso(instant: float | None, *, day_only: bool = False) -> str | None:
    """ISO 8601 UTC (`2026-03-02T06:45:00Z`), or the day alone; None stays None."""
    if instant is None:
        return None
    moment = datetime.fromtimestamp(instant, UTC)
    return moment.strftime("%Y-%m-%d") if day_only else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class _Fields:
    year: int
    month: int
    day: int
    time: tuple[int, int, float] | None = None
    offset: int | None = None
    zone_problem: str | None = None
    zone: str | None = None


def _checked(raw: str, fields: _Fields, now: float | None) -> DateReading:
    hour, minute, second = fields.time or (0, 0, 0.0)
    if not (1 <= fields.month <= 12 and 1 <= fields.year <= 9998):
        return DateReading(raw, problems=("out_of_range",))
    if not 1 <= fields.day <= monthrange(fields.year, fields.month)[1]:
        return DateReading(raw, problems=("out_of_range",))
    if not (hour <= 24 and minute < 60 and second < 61) or (hour == 24 and (minute or second)):
        return DateReading(raw, problems=("out_of_range",))
    if fields.offset is not None and abs(fields.offset) > 14 * 3600:
        return DateReading(raw, problems=("out_of_range",))
    offset, doubt = fields.offset, fields.zone_problem
    if (
        offset is None
        and fields.zone
        and (found := american_offset(fields.zone, fields.year, fields.month, fields.day))
    ):
        offset, doubt = found, None
    seconds = timegm((fields.year, fields.month, fields.day, 0, 0, 0)) + hour * 3600 + minute * 60 + second
    instant = seconds - (offset or 0)
    if instant < EARLIEST:
        return DateReading(raw, problems=("out_of_range",))
    problems: list[str] = []
    if doubt:
        problems.append(doubt)
    elif offset is None:
        problems.append("day_only" if fields.time is None else "no_zone")
    if now is not None and instant > now + FAR_FUTURE:
        return DateReading(raw, problems=("far_future",))
    if now is not None and instant > now:
        problems.append("future_date")
    known = offset is not None
    return DateReading(raw, instant, known, fields.time is None, offset, tuple(problems))


def _plain(text: str) -> str:
    """NFKC (full-width and other digits become plain ones), controls out, white space single."""
    text = unicodedata.normalize("NFKC", text[: MAX_RAW * 4])
    text = "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in text)
    text = re.sub(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", "", text)
    return re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).strip()


_CLOCK: Final = r"(?P<h>\d{1,2})[:.](?P<mi>\d{2})(?:[:.](?P<s>\d{2})(?:[.,](?P<f>\d{1,9}))?)?"
_ZONE: Final = r"(?P<z>[zZ]|(?:UTC|GMT)?[ ]?[+\-\u2212]\d{1,2}(?::?\d{2})?|[A-Za-z]{1,5}(?:/[A-Za-z_]+)?)"
_ISO: Final = re.compile(
    r"(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})"
    rf"(?:(?:[tT]|,?[ ]|[ ]-[ ]){_CLOCK}(?:[ ]?{_ZONE})?)?(?:[ ]?\[[A-Za-z_/]+\])?"
)
_ISO_HOUR: Final = re.compile(rf"(?P<y>\d{{4}})-(?P<m>\d\d)-(?P<d>\d\d)[tT](?P<h>\d\d)(?:[ ]?{_ZONE})?")
_COMPACT: Final = re.compile(
    rf"(?P<y>\d{{4}})(?P<m>\d\d)(?P<d>\d\d)(?:[tT ]?(?P<h>\d\d)(?P<mi>\d\d)(?P<s>\d\d)?(?:\.\d+)?(?:[ ]?{_ZONE})?)?"
)
_COMPACT_CLOCK: Final = re.compile(rf"(?P<y>\d{{4}})(?P<m>\d\d)(?P<d>\d\d)[tT]{_CLOCK}(?:[ ]?{_ZONE})?")
_ORDINAL: Final = re.compile(r"(?P<y>\d{4})-(?P<n>\d{3})")
_MONTH_ONLY: Final = re.compile(r"(?P<y>\d{4})(?:-(?P<m>\d{2}))?")


def _iso(text: str, _: str) -> _Fields | str | None:
    for pattern in (_ISO, _ISO_HOUR, _COMPACT_CLOCK, _COMPACT):
        match = pattern.fullmatch(text)
        if match:
            named = match.groupdict()
            offset, problem = _zone(named.get("z"))
            return _Fields(
                int(named["y"]), int(named["m"]), int(named["d"]), _time_of(named), offset, problem,
                (named.get("z") or "").upper(),
            )  # fmt: skip
    match = _ORDINAL.fullmatch(text)
    if match and 1 <= int(match["n"]) <= 366 and 1990 <= int(match["y"]) < 9998:
        moment = date(int(match["y"]), 1, 1) + timedelta(days=int(match["n"]) - 1)
        return _Fields(moment.year, moment.month, moment.day)
    if _MONTH_ONLY.fullmatch(text):
        return "ambiguous"  # a year or a month is no day
    return None


def _time_of(named: Mapping[str, str | None]) -> tuple[int, int, float] | None:
    if named.get("h") is None:
        return None
    fraction = float(f"0.{named['f']}") if named.get("f") else 0.0
    return int(named["h"] or 0), int(named.get("mi") or 0), int(named.get("s") or 0) + fraction


def _zone(text: str | None) -> tuple[int | None, str | None]:
    """(offset in seconds or None, problem)."""
    if not text:
        return None, None
    word = text.strip().replace("\u2212", "-")
    match = re.fullmatch(r"(?:UTC|GMT|utc|gmt)?[ ]?([+-])(\d{1,2}):?(\d{2})?", word)
    if match:
        if word[-5:] == "-0000":
            return 0, None
        size = int(match[2]) * 3600 + int(match[3] or 0) * 60
        return (size if match[1] == "+" else -size), None
    known = ZONES.get(word.upper())
    return (known, None) if known is not None else (None, "unknown_zone")


def _epoch(text: str, _: str) -> _Fields | str | None:
    if not re.fullmatch(r"\d{9,10}(?:\.\d+)?|\d{13}|\d{16}", text):
        return "unreadable" if text.isdigit() else None
    value = float(text)
    value /= {13: 1e3, 16: 1e6}.get(len(text), 1.0)
    moment = datetime.fromtimestamp(value, UTC)
    return _Fields(
        moment.year, moment.month, moment.day, (moment.hour, moment.minute, float(moment.second)), 0
    )  # fmt: skip


_CJK: Final = re.compile(
    r"(?P<y>\d{4})[ ]?[年년][ ]?(?P<m>\d{1,2})[ ]?[月월][ ]?(?P<d>\d{1,2})[ ]?[日号號일]?"
    r"(?:[ ]?\(?[月火水木金土日一二三四五六월화수목금토]?(?:曜日|요일)?\)?)?"
    r"(?:[ ,]*(?P<half>上午|下午|午前|午後|오전|오후|凌晨|晚上|中午)?[ ]?(?P<h>\d{1,2})"
    rf"(?:[:时時시点點][ ]?(?P<mi>\d{{1,2}})?(?:[:分분][ ]?(?P<s>\d{{1,2}})?[秒초]?)?)?(?:[ ]?{_ZONE})?)?"
)


def _cjk(text: str, _: str) -> _Fields | str | None:
    match = _CJK.fullmatch(text)
    if not match:
        return None
    time = _time_of(match.groupdict())
    if time and match["half"]:
        time = _half_day(time, afternoon=match["half"] in ("下午", "午後", "오후", "晚上", "中午"))
    offset, problem = _zone(match["z"])
    return _Fields(int(match["y"]), int(match["m"]), int(match["d"]), time, offset, problem)


def _half_day(time: tuple[int, int, float], *, afternoon: bool) -> tuple[int, int, float]:
    hour = time[0]
    if afternoon and hour < 12:
        hour += 12
    elif not afternoon and hour == 12:
        hour = 0
    return hour, time[1], time[2]


@lru_cache(maxsize=64)
def _months(language: str) -> dict[str, int]:
    """Name -> month: the language's own names first, then all that mean one month wherever they occur."""
    meanings: dict[str, set[int]] = {}
    for names in MONTHS.values():
        for number, row in enumerate(names, 1):
            for name in row.split():
                meanings.setdefault(name, set()).add(number)
    table = {name: next(iter(numbers)) for name, numbers in meanings.items() if len(numbers) == 1}
    for number, row in enumerate(MONTHS.get({"no": "nb"}.get(language, language), ()), 1):
        table.update(dict.fromkeys(row.split(), number))
    return table


_NUMERIC: Final = re.compile(r"(?<!\d)(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d])")
_WORD_CLOCK: Final = re.compile(
    r"(?<![\d.])(\d{1,2})(?:[:h\u0e19]|[ ]?h[ ]?|[.](?=\d{2}(?:[ ]?(?:uhr|h)|$)))(\d{2})"
    r"(?:[:.](\d{2})(?:[.,]\d+)?)?(?!\d)",
    re.IGNORECASE,
)
_WORD_ZONE: Final = re.compile(r"(?:(?<=[\s(])|^)(?:utc|gmt)?[ ]?([+-]\d{2}:?\d{2}|[+-]\d{1,2}(?!\d))(?=[\s)]|$)")
_AMERICAN: Final = frozenset({"et", "ct", "mt", "pt"})
_THAI: Final = re.compile(r"[\u0e00-\u0e7f]")
#: Not `\\w`: vowel signs of Indic and Thai scripts are marks, not letters.
_TOKEN: Final = re.compile(r"\d+|[^\s\d,;:()\[\]./|•·–—«»\"+-]+")


def _words(text: str, language: str) -> _Fields | str | None:
    months = _months(language)
    lowered = text.lower()
    for name in _spaced(language):
        lowered = lowered.replace(name.replace("_", " "), name)
    offset: int | None = None
    problem: str | None = None
    american: str | None = None
    zone = _WORD_ZONE.search(lowered) if _WORD_CLOCK.search(lowered) else None
    if zone:
        offset, problem = _zone(zone[1])
        lowered = lowered[: zone.start()] + " " + lowered[zone.end() :]
    time: tuple[int, int, float] | None = None
    clock = _WORD_CLOCK.search(lowered)
    if clock:
        time = (int(clock[1]), int(clock[2]), float(clock[3] or 0))
        lowered = lowered[: clock.start()] + " " + lowered[clock.end() :]
    numeric = _NUMERIC.search(lowered)
    rest = lowered[: numeric.start()] + " " + lowered[numeric.end() :] if numeric else lowered
    month: int | None = None
    numbers: list[str] = []
    for token in _TOKEN.findall(rest.replace(".", " ")):
        if token.isdigit():
            numbers.append(token)
        elif token in months and month is None and not (token in WEEKDAYS and len(token) <= 3 and not numbers and
                                                       _another_month(rest, token, months)):  # fmt: skip
            month = months[token]
        elif token in AFTERNOON and time:
            time = _half_day(time, afternoon=True)
        elif token in MORNING and time:
            time = _half_day(time, afternoon=False)
        elif token.upper() in ZONES and time:
            offset = ZONES[token.upper()] if offset is None else offset
        elif token in _AMERICAN and time and offset is None and language in ("", "en", "und"):
            american, problem = token.upper(), "unknown_zone"
        elif token not in FILLERS and token not in WEEKDAYS:
            if time and offset is None and re.fullmatch(r"[a-z]{3,5}", token) and (month or numeric):
                problem = "unknown_zone"
            else:
                return None
    if numeric:
        found = _numeric(numeric, numbers, month, language=language, time=time, offset=offset, problem=problem)
        return replace(found, zone=american) if isinstance(found, _Fields) else found
    if month is None:
        return None
    day, year = _day_and_year(numbers)
    if year is not None and year > 2400 and _THAI.search(text):
        year -= 543  # Buddhist era
    if day is None or year is None:
        return "ambiguous" if numbers else None
    return _Fields(year, month, day, time, offset, problem, american)


@lru_cache(maxsize=64)
def _spaced(language: str) -> tuple[str, ...]:
    rows = MONTHS.get(language, ()) + MONTHS["vi"] + MONTHS["ar"]
    found = {name for row in rows for name in row.split() if "_" in name} | {name for name in WEEKDAYS if "_" in name}
    return tuple(sorted(found, key=len, reverse=True))


def _another_month(rest: str, token: str, months: dict[str, int]) -> bool:
    words = [word for word in _TOKEN.findall(rest.replace(".", " ")) if word != token]
    return any(word in months for word in words)


def _day_and_year(numbers: list[str]) -> tuple[int | None, int | None]:
    """Which of two numbers is the day: the year has four digits, or both stand as day, two-digit year (RFC 822)."""
    if len(numbers) != 2:
        return None, None
    first, second = numbers
    if len(second) == 4 and len(first) <= 2:
        return int(first), int(second)
    if len(first) == 4 and len(second) <= 2:
        return int(second), int(first)
    if len(first) <= 2 and len(second) == 2:
        return int(first), _full_year(second)
    return None, None


def _full_year(digits: str) -> int:
    """Two-digit years as RFC 2822 4.3 reads them."""
    value = int(digits)
    return value if len(digits) == 4 else value + (2000 if value < 50 else 1900)


def _numeric(
    match: re.Match[str],
    numbers: list[str],
    month: int | None,
    *,
    language: str,
    time: tuple[int, int, float] | None,
    offset: int | None,
    problem: str | None,
) -> _Fields | str | None:
    if numbers or month is not None:
        return "ambiguous"
    first, separator, second = int(match[1]), match[2], int(match[3])
    if len(match[4]) == 2:
        return "ambiguous"
    year = int(match[4])
    if first == second or second > 12 >= first:
        month_number, day = first, second
    elif first > 12 >= second or separator == "." or language in DAY_FIRST:
        # Dots are written by the day-first countries only (CLDR short date patterns).
        month_number, day = second, first
    else:
        return "ambiguous"
    return _Fields(year, month_number, day, time, offset, problem)
