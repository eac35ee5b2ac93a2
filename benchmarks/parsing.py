"""How right and how fast the readers are on captured input (FRONTPAGE_DATASETS): feeds, feedparser's suite, pages.

    python -m benchmarks.parsing [DATASETS] [--list]

`run(datasets_dir)` gives shares (0..1), counts and milliseconds. Every expectation comes from the data: the comment of
each file of feedparser's suite, the fields beside each page. `--list` prints what is not as expected.
"""

from __future__ import annotations

import ast
import csv
import json
import re
import statistics
import sys
import tarfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from frontpage.adapters.parse.feeds import read_any, read_feed
from frontpage.adapters.parse.pages import read_page
from frontpage.domain.dates import parse_date
from frontpage.domain.languages import primary_subtag
from frontpage.domain.text import from_markup, plain
from frontpage.domain.urls import clean_link
from frontpage.errors import UnreadableInput

#: A fixed time of reading, later than everything in the captures.
NOW = 1_796_000_000.0

Miss = tuple[str, str, str]

#: Why a file of the suite or a page may read otherwise than it states; a miss that is not here fails `make eval`.
SUITE_REASONS: Final = {
    "encoding/x80_tcvn": "no codec of Vietnam's TCVN 5712 in Python, and no captured feed has it; read as Windows-1252",
    "encoding/x80_viscii": "no codec of VISCII in Python, and no captured feed has it; read as Windows-1252",
    "entities/lang.xml": "HTML 5 names U+27E8, HTML 4 named U+2329: today's browsers show what we read",
    "entities/rang.xml": "HTML 5 names U+27E9, HTML 4 named U+232A: today's browsers show what we read",
    "atom10/tag_in_attr.xml": "escaped twice: the title is the text of a tag, which is what a reader sees",
    "sanitize/entry_title_crazy.xml": "markup goes and words stay; the suite wants what one sanitiser happens to leave",
    "sanitize/feed_title_crazy.xml": "markup goes and words stay; the suite wants what one sanitiser happens to leave",
    "japanese_article2": "stated is when the page was modified; it was published when we say (its meta and its text)",
    "japanese_article": "stated are the picture's credit and the paper's name behind the headline",
}


def reason_of(name: str) -> str | None:
    """Why a file is read otherwise than it states, None when nobody has said."""
    return next((reason for part, reason in SUITE_REASONS.items() if part in name), None)


class Tally:
    """Right of all, per figure, with the misses."""

    def __init__(self) -> None:
        self.right: dict[str, int] = {}
        self.all: dict[str, int] = {}
        self.misses: list[Miss] = []

    def add(self, figure: str, name: str, found: object, expected: object, *, ok: bool | None = None) -> None:
        good = found == expected if ok is None else ok
        self.all[figure] = self.all.get(figure, 0) + 1
        self.right[figure] = self.right.get(figure, 0) + good
        if not good:
            self.misses.append((figure, name, f"{found!r:.150} is not {expected!r:.150}"))

    def shares(self) -> dict[str, float]:
        return {f"{name}_share": self.right[name] / self.all[name] for name in self.all} | {
            f"{name}_of": float(count) for name, count in self.all.items()
        }


_EXPECT = re.compile(r"Expect:\s*(.+)")
_CLAUSE = re.compile(
    r"(entries\[(\d+)\]|feed)((?:\[u?'\w+'\])+)\s*==\s*(u?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|\((?:-?\d+,\s*)+-?\d+\))"
)
_ENTRY_FIGURES = {
    "['title']": "suite_entry_titles", "['title_detail']['value']": "suite_entry_titles",
    "['link']": "suite_entry_links",
    "['published_parsed']": "suite_entry_dates", "['updated_parsed']": "suite_entry_dates",
}  # fmt: skip
_FEED_FIGURES = {"['title']": "suite_feed_titles", "['title_detail']['value']": "suite_feed_titles"}


def _suite(root: Path, tally: Tally) -> None:
    with tarfile.open(root / "feeds" / "feedparser-6.0.14-tests.tar.gz") as archive:
        for member in archive:
            if not member.isfile() or not re.search(
                r"/(?:wellformed|illformed|entities|encoding)/.*\.xml$", member.name
            ):
                continue
            file = archive.extractfile(member)
            body = file.read() if file else b""
            _judge(member.name.partition("/tests/")[2], body, tally)


def _judge(name: str, body: bytes, tally: Tally) -> None:
    text = _readable(body)
    expect = _EXPECT.search(text)
    clauses = list(_CLAUSE.finditer(expect[1])) if expect else []
    figures = [
        (match, figure)
        for match in clauses
        if (figure := (_FEED_FIGURES if match[1] == "feed" else _ENTRY_FIGURES).get(match[3].replace("[u'", "['")))
    ]
    if not figures:
        return
    headers = {m[1].lower(): m[2].strip() for m in re.finditer(r"^Header:\s*([\w-]+):\s*(.+)$", text, re.MULTILINE)}
    base = headers.get("content-location", "http://127.0.0.1:8097/" + name)
    try:
        reading = read_feed(body, headers, base, now=NOW)
    except UnreadableInput as error:
        for _, figure in figures:
            tally.add(figure, name, error.cause, "a reading")
        return
    for match, figure in figures:
        expected = ast.literal_eval(match[4])
        if match[1] == "feed":
            _compare(figure, name, reading.feed.title, expected, tally)
            continue
        index = int(match[2])
        entry = reading.entries[index] if index < len(reading.entries) else None
        if entry is None:
            tally.add(figure, name, "no such entry", expected)
        elif figure == "suite_entry_dates":
            published = "published" in match[3]
            found = entry.published_at if published else (entry.updated_at or entry.published_at)
            _compare_date(figure, name, found, expected, tally)
        else:
            _compare(figure, name, entry.url if figure == "suite_entry_links" else entry.title, expected, tally)


def _readable(body: bytes) -> str:
    for encoding in ("utf-8", "utf-16", "utf-32", "cp037"):
        try:
            text = body.decode(encoding)
        except UnicodeError:
            continue
        if "Expect:" in text:
            return text
    return body.decode("latin-1")


def _compare(figure: str, name: str, found: str | None, expected: str, tally: Tally) -> None:
    """Titles are compared as plain text (the suite keeps harmless markup), links after the rule on what is a link."""
    if figure.endswith("links"):
        link = clean_link(expected)[0]
        tally.add(figure, name, found, link)
    else:
        wanted = from_markup(expected)
        tally.add(figure, name, found, wanted, ok=found in (wanted, plain(expected)))


def _compare_date(figure: str, name: str, found: float | None, expected: tuple[int, ...], tally: Tally) -> None:
    shown = tuple(datetime.fromtimestamp(found, UTC).timetuple())[:6] if found is not None else None
    tally.add(figure, name, shown, expected[:6])


def _captures(root: Path, tally: Tally, timings: dict[str, list[float]]) -> None:
    with (root / "feeds" / "index.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        path = root / "feeds" / "real" / row["file"]
        if not path.exists():
            continue
        start = time.perf_counter()
        try:
            reading = read_any(path.read_bytes(), {}, f"https://feeds.test/{row['file']}", now=NOW)
        except UnreadableInput as error:
            tally.add("captures_read", row["file"], error.cause, f"{row['format']} with {row['entries']} entries")
            continue
        timings["feed_ms"].append((time.perf_counter() - start) * 1000)
        tally.add("captures_read", row["file"], len(reading.entries), int(row["entries"] or 0) or len(reading.entries))
        if row["feed_title"]:
            tally.add("captures_titles", row["file"], reading.feed.title, from_markup(row["feed_title"]))
        stated = parse_date(row["newest"]).instant if row["newest"] else None
        if stated is not None:
            dates = [d for entry in reading.entries for d in (entry.published_at, entry.updated_at) if d is not None]
            tally.add("captures_newest", row["file"], stated in dates, True)


def pages(root: Path) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """(name, HTML, stated fields) of the captured article pages that state fields."""
    bodies: dict[str, bytes] = {}
    fields: dict[str, dict[str, Any]] = {}
    with tarfile.open(next((root / "article_html").glob("*.tar.gz"))) as archive:
        for member in archive:
            stem = Path(member.name).stem
            file = archive.extractfile(member) if member.isfile() else None
            if file and "/html/" in member.name:
                bodies[stem] = file.read()
            elif file and "/metadata/" in member.name:
                fields[stem] = json.loads(file.read())
    for stem in sorted(fields):
        if stem in bodies:
            yield stem, bodies[stem], fields[stem]


def _pages(root: Path, tally: Tally, timings: dict[str, list[float]]) -> None:
    for name, body, stated in pages(root):
        url = stated.get("url") or "http://www.cleveland.com/food/index.ssf/2014/12/let_me_google_that_for_you_201.html"
        read_page(body, {}, url, now=NOW)  # the libraries' first call builds their tables
        start = time.perf_counter()
        reading = read_page(body, {}, url, now=NOW)
        timings["page_ms"].append((time.perf_counter() - start) * 1000)
        if stated.get("title"):
            tally.add("article_titles", name, reading.title, plain(stated["title"]))
        if stated.get("publish_date"):
            expected = parse_date(stated["publish_date"])
            found = reading.published_at
            # A stated midnight or a missing zone is a day; the page's own minute of that day is right too.
            exact = expected.zone_known and not str(stated["publish_date"]).endswith("T00:00:00")
            near = found is not None and abs(found - (expected.instant or 0)) <= (60 if exact else 86_400)
            tally.add(
                "article_dates", name, found and datetime.fromtimestamp(found, UTC), stated["publish_date"], ok=near
            )
        language = stated.get("language") or stated.get("meta_lang")
        if language:
            tally.add("article_languages", name, reading.language, primary_subtag(language))
        if stated.get("canonical_link"):
            tally.add("article_canonicals", name, bool(reading.canonical_url), True)


def measure(datasets_dir: str | Path) -> tuple[dict[str, float], list[Miss]]:
    """All figures, and what was not as expected."""
    root = Path(datasets_dir)
    tally = Tally()
    timings: dict[str, list[float]] = {"feed_ms": [], "page_ms": []}
    _suite(root, tally)
    _captures(root, tally, timings)
    _pages(root, tally, timings)
    figures = tally.shares()
    for name, values in timings.items():
        if values:
            figures[f"{name}_median"] = statistics.median(values)
            figures[f"{name}_mean"] = statistics.fmean(values)
    return figures, tally.misses


def run(datasets_dir: str | Path) -> dict[str, float]:
    """Only the figures."""
    return measure(datasets_dir)[0]


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    numbers, wrong = measure(arguments[0] if arguments else ".")
    for key, value in sorted(numbers.items()):
        print(f"{key:32} {value:.4f}")
    if "--list" in sys.argv:
        for figure, where, what in wrong:
            print(f"{figure}: {where}: {what} ({reason_of(where) or 'no reason known'})")
