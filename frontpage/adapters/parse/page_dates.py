"""When a page says it was published and changed: stated data first, then the article itself, then its address.

Never from scripts, copyright lines or lists of other articles, and never later than the fetch by more than a day.
Where no date is stated, "3 hours ago" beside the headline counts from the moment at which the page was made.
No date is a valid answer: then the feed's date, or first sight, is used.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from frontpage.adapters.parse.html_tree import Page
from frontpage.adapters.parse.structured import Structured
from frontpage.domain.date_relative import Age, age_of
from frontpage.domain.dates import DateReading, not_in_future, parse_date
from frontpage.domain.text import plain
from frontpage.domain.wordlists import alternatives, names

_PUBLISHED_META: Final = names(
    """
    article:published_time article:published og:article:published_time og:published_time datepublished
    parsely-pub-date sailthru.date cxenseparse:recs:publishtime rnews:datepublished originalpublicationdate
    publication_date article_date_original publishdate publish-date publish_date pubdate ptime dc.date.issued
    dcterms.issued dc.date.created dcterms.created dc.date dcterms.date dc.created citation_publication_date
    article.published article.created published_at publishtime date displaydate timestamp created dcterms.available
    """
)
_MODIFIED_META: Final = names(
    """
    article:modified_time og:updated_time article:modified og:modified_time datemodified dcterms.modified
    dc.date.modified last-modified article.updated modified_at lastmod revised
    """
)
_UPDATE_WORDS: Final = re.compile(
    alternatives(
        """
        updated modified last_updated mise?_à_jour aktualisiert zuletzt_geändert update: actualizad[oa]
        atualizad[oa] aggiornat[oa] modificad[oa] bijgewerkt gewijzigd zaktualizowano aktualizacja aktualizováno
        обновлено оновлено uppdaterad oppdatert opdateret päivitetty güncelle(?:me|ndi) cập_nhật تحديث به‌روز 更新
        갱신 수정 diperbarui frissítve actualizat ενημέρωση עודכן
        """
    ),
    re.IGNORECASE,
)
_PUBLISH_WORDS: Final = re.compile(
    alternatives(
        """
        published posted publié veröffentlicht erstellt publicad[oa] pubblicat[oa] gepubliceerd geplaatst
        opublikowano publikováno опубликовано опубліковано publicerad publisert udgivet julkaistu
        yayın(?:lanma|landı) đăng نشر 公開 公开 发布 發布 発表 配信 입력 등록 megjelent publicat δημοσι פורסם
        diterbitkan تاریخ_انتشار
        """
    ),
    re.IGNORECASE,
)
_DATE_CLASS: Final = re.compile(
    r"(?:^|[\s_-])"
    + alternatives(
        "date datetime time timestamp pub-?date publish\\w* meta byline dateline posted info article-?info postmeta"
    )
    + r"(?:[\s_-]|$)",
    re.IGNORECASE,
)
_OUTSIDE: Final = frozenset({"aside", "nav", "footer"})
_LISTS: Final = re.compile(
    r"related|recommend|more-|sidebar|comment|trending|popular|latest|teaser|widget|also", re.IGNORECASE
)
#: A whole day between separators, or of two digits each. "/2026/11/" names a month and no day, and in
#: "/2026/11/12-reasons" the number belongs to the headline.
_URL_DAY: Final = re.compile(
    r"/((?:19|20)\d\d)(?:/(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])(?=/)"
    r"|[_-](0?[1-9]|1[0-2])[_-](0?[1-9]|[12]\d|3[01])(?=[/_.-])"
    r"|[/_-]?(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[/_.-]))"
)
_URL_MONTH_NAME: Final = re.compile(
    r"/((?:19|20)\d\d)/(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/(\d{1,2})/", re.IGNORECASE
)
_ELEMENTS: Final = 4_000


@dataclass(frozen=True, slots=True)
class PageDates:
    """Instants in seconds; `day_only` belongs to `published_at`."""

    published_at: float | None = None
    modified_at: float | None = None
    day_only: bool = False
    problems: tuple[str, ...] = ()


def read_dates(
    page: Page, data: Structured, url: str, *, now: float, language: str | None, cached: float = 0.0
) -> PageDates:
    """Publication and last change of a page fetched at `now` from `url`, held by a cache for `cached` seconds."""
    problems: list[str] = []

    def sane(reading: DateReading) -> DateReading | None:
        instant, found = not_in_future(reading, now)
        problems.extend(f"date: {problem}" for problem in found if problem == "future_date")
        return reading if instant is not None else None

    stated = [
        *_parsed([data.published], language),
        *_parsed((value for name in _PUBLISHED_META for value in page.meta.get(name, ())), language),
    ]
    # Reading lines of text costs more than all else here; a page that states its time to the minute needs none.
    precise = any(reading.instant is not None and not reading.day_only and sane(reading) for reading in stated)
    marked = _Marked(page, language, lines=not precise)
    published = _best(sane, stated, marked.published, _in_address(url))
    changed_ago: list[DateReading] = []
    if published is None:
        published, changed_ago = _ages(marked.scope, marked.scope is not page.root, now - cached, language)
        if published is not None:
            problems.append("date: relative")
        else:
            published = _guess(page, now, sane)
    modified = _best(
        sane,
        _parsed([data.modified], language),
        _parsed((value for name in _MODIFIED_META for value in page.meta.get(name, ())), language),
        marked.modified,
        changed_ago,
    )
    if published is None:
        return PageDates(
            None, None if modified is None else modified.instant, problems=("no_date", *dict.fromkeys(problems))
        )
    changed = _same_zone(modified, published)
    if changed is not None and published.instant is not None and changed < published.instant:
        changed = None  # a change before publication is a template's default
    if not published.zone_known and not published.day_only:
        problems.append("date: no_zone")
    if published.day_only:
        problems.append("date: day_only")
    return PageDates(published.instant, changed, published.day_only, tuple(dict.fromkeys(problems)))


def _same_zone(modified: DateReading | None, published: DateReading) -> float | None:
    """A change written without a zone is on the same clock as the publication beside it."""
    if modified is None or modified.instant is None:
        return None
    if not modified.zone_known and not modified.day_only and published.offset:
        return modified.instant - published.offset
    return modified.instant


def _best(sane: Any, *groups: Iterable[DateReading]) -> DateReading | None:
    """The first usable reading; one with a time beats an earlier one of the same day that has none."""
    day: DateReading | None = None
    for group in groups:
        for reading in group:
            if reading.instant is None or sane(reading) is None:
                continue
            if day is None and not reading.day_only:
                return reading
            if day is None:
                day = reading
            elif not reading.day_only and abs((reading.instant or 0) - (day.instant or 0)) < 1.5 * 86_400:
                return reading
    return day


def _parsed(values: Iterable[str], language: str | None) -> Iterator[DateReading]:
    for value in values:
        if value:
            yield parse_date(value, language=language)


class _Marked:
    """Dates that the article's own markup carries: itemprop, time elements, labelled lines near the headline."""

    def __init__(self, page: Page, language: str | None, *, lines: bool) -> None:
        self.published: list[DateReading] = []
        self.modified: list[DateReading] = []
        self._language = language
        root = page.root
        scope = next(iter(root.iter("article")), None) if len(root.xpath("//article[.//h1]")) == 1 else None
        scope = root.xpath("//article[.//h1]")[0] if scope is not None else root
        self.scope = scope
        self._microdata(root)
        self._times(scope)
        if lines:
            self._lines(scope)

    def _add(self, target: list[DateReading], text: str | None) -> None:
        if text and len(target) < 8:
            reading = parse_date(text, language=self._language)
            if reading.instant is not None:
                target.append(reading)

    def _microdata(self, root: Any) -> None:
        for element in root.xpath(
            "//*[@itemprop='datePublished' or @itemprop='dateModified' or @itemprop='dateCreated']"
        )[:20]:
            target = self.modified if element.get("itemprop") == "dateModified" else self.published
            text = element.get("datetime") or element.get("content") or plain(element.text_content())
            self._add(target, text)

    def _times(self, scope: Any) -> None:
        plain_times: list[str] = []
        for element in scope.iter("time", "abbr"):
            stated = element.get("datetime") or (element.get("title") if element.tag == "abbr" else None)
            if not stated or _outside(element, scope):
                continue
            marks = " ".join(filter(None, (element.get("class"), element.get("id"), element.get("data-testid"))))
            before = plain((element.getparent().text or "") if element.getparent() is not None else "")[-40:]
            if _UPDATE_WORDS.search(marks) or "modif" in marks or _UPDATE_WORDS.search(before):
                self._add(self.modified, stated)
            elif element.get("pubdate") is not None or re.search(
                r"publi|entry-date|posted|created", marks, re.IGNORECASE
            ):
                self._add(self.published, stated)
            elif element.tag == "time":
                plain_times.append(stated)
        for stated in plain_times[:1]:
            self._add(self.published, stated)

    def _lines(self, scope: Any) -> None:
        for element, raw in _lines_of(scope, 400):
            if not _DIGIT.search(raw):
                continue
            text = plain(raw)
            if not 6 <= len(text) <= 200 or not any(c.isdigit() for c in text) or _outside(element, scope):
                continue
            update, publish = _UPDATE_WORDS.search(text), _PUBLISH_WORDS.search(text)
            if update:
                self._read_after(self.modified, text[update.end() :])
            if publish:
                self._read_after(
                    self.published,
                    text[publish.end() : update.start() if update and update.start() > publish.end() else None],
                )
            marks = f"{element.get('class') or ''} {element.get('id') or ''}"
            if not update and not publish and len(text) <= 60 and _DATE_CLASS.search(marks):
                self._read_after(self.published, text)

    def _read_after(self, target: list[DateReading], text: str) -> None:
        found = leading_date(text, self._language)
        if found is not None and len(target) < 8:
            target.append(found)


_LINES: Final = ("p", "div", "span", "li", "time", "small", "td", "em", "dd", "h6", "i", "b")


def _lines_of(scope: Any, longest: int) -> Iterator[tuple[Any, str]]:
    """The elements that may be a line of text, and their text where it is short."""
    for place, element in enumerate(scope.iter(*_LINES)):
        if place > _ELEMENTS:
            return
        if len(element) <= 12:
            yield element, _short_text(element, longest)


def _ages(scope: Any, article: bool, made: float, language: str | None) -> tuple[DateReading | None, list[DateReading]]:
    """Publication and changes by how long before `made` (seconds) the text says that they were.

    Without a label, only what stands in a place for dates counts; in an article's own element the first, else only one
    that no other contradicts, because every card of a list has its own.
    """
    published: list[DateReading] = []
    changed: list[DateReading] = []
    beside: dict[Age, DateReading] = {}
    read: set[str] = set()
    for element, raw in _lines_of(scope, 80):
        marks = f"{element.get('class') or ''} {element.get('id') or ''}"
        place = element.tag == "time" or _DATE_CLASS.search(marks) is not None
        # most lines are links and buttons, and reading them all would cost more than the rest of the page
        if not raw or not (place or (raw not in read and (len(raw) <= 40 or _DIGIT.search(raw)))):
            continue
        read.add(raw)
        for part in _SPLIT.split(plain(raw)):
            update, publish = _UPDATE_WORDS.search(part), _PUBLISH_WORDS.search(part)
            label = update or publish
            if not label and not place:
                continue
            found = age_of(part[: label.start()] + part[label.end() :] if label else part, language)
            if found is None or _outside(element, scope):
                continue
            reading = _made(part, found, made)
            if label:
                (changed if update else published).append(reading)
            else:
                beside.setdefault(found, reading)
    if not published and beside and (article or len(beside) == 1):
        published = list(beside.values())
    return next(iter(published), None), changed


def _made(text: str, age: Age, made: float) -> DateReading:
    instant = made - age.seconds
    if age.day_only:
        instant -= instant % 86_400
    return DateReading(text, instant, True, age.day_only, 0, ("relative",))


#: What `str.isdigit` holds for in the scripts that we read, and references that may stand for one.
_DIGIT: Final = re.compile("[\\d\u00b2\u00b3\u00b9\u2070-\u2089\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u1369-\u1371&]")


def _short_text(element: Any, limit: int) -> str:
    """An element's text; "" when it is longer than that, blanks not counted, and looks no further than needed.

    A page's outer elements hold all of its text, each again.
    """
    size, parts = 0, []
    for part in element.itertext():
        size += len(part.strip())
        if size > limit:
            return ""
        parts.append(part)
    return "".join(parts)


_SPLIT: Final = re.compile(r"\s+[|·•–—]\s+|\s{2,}|;")


def leading_date(text: str, language: str | None) -> DateReading | None:
    """The longest date at the head of a text: "le 3 mars 2026 à 18h10, par …" gives that minute."""
    head = _SPLIT.split(text.strip(" :-–—|,.()\t"))[0][:70]
    words = head.split(" ")
    for length in range(min(len(words), 9), 0, -1):
        reading = parse_date(" ".join(words[:length]).strip(" ,:()-–|"), language=language)
        if reading.instant is not None:
            return reading
    return None


def _outside(element: Any, stop: Any) -> bool:
    node = element
    while node is not None and node is not stop:
        if node.tag in _OUTSIDE or _LISTS.search(f"{node.get('class') or ''} {node.get('id') or ''}"):
            return True
        node = node.getparent()
    return False


def _in_address(url: str) -> list[DateReading]:
    path = url.partition("?")[0].partition("://")[2]
    match = _URL_DAY.search(path)
    if match:
        year, month, day = (part for part in match.groups() if part)
        return [parse_date(f"{year}-{int(month):02d}-{int(day):02d}")]
    match = _URL_MONTH_NAME.search(path)
    return [parse_date(f"{match[3]} {match[2]} {match[1]}")] if match else []


def _guess(page: Page, now: float, sane: Any) -> DateReading | None:
    """htmldate in its careful mode, as the last resort; it knows days only."""
    import htmldate

    scope = copy.deepcopy(page.root)
    for element in list(scope.iter(*_OUTSIDE, "ul", "ol")):
        if element.getparent() is not None and (element.tag in _OUTSIDE or _outside(element, scope)):
            element.drop_tree()
    limit = datetime.fromtimestamp(now + 86_400, UTC).strftime("%Y-%m-%d")
    try:
        # without the address, which `_in_address` has read more carefully
        found = htmldate.find_date(scope, extensive_search=False, original_date=True, max_date=limit)
    except Exception:  # noqa: BLE001 - a heuristic over hostile markup may fail in any way; no date is an answer
        return None
    if not found:
        return None
    reading = parse_date(found)
    return replace(reading, day_only=True) if reading.instant is not None and sane(reading) is not None else None
