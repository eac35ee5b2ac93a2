"""Publishing a file of articles or events through the running system, at its own pace or faster.

A line is an event as it stands on a topic (`schema` beside its fields), or an article
`{id, title, text, url, publisher, lang, published_at}`, which becomes a feed item as if a feed had shown it: `text` is
clipped like a feed's summary and goes nowhere else. Only inputs can be replayed: what our own processes decide
(`story.changes` and such) would contradict their state. A line that cannot be understood is named, counted and put
into `FILE.rejected`.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

from frontpage.adapters.bus import Outgoing, Producer
from frontpage.adapters.clock import Clock
from frontpage.contracts.envelope import Event, read_fields
from frontpage.contracts.events import ArticleEvent, FeedItem
from frontpage.contracts.reader_events import Click, ReaderEvent
from frontpage.contracts.topics import ARTICLES, ITEMS_RAW, READER_CLICKS, READER_EVENTS
from frontpage.domain.ids import feed_id, url_key
from frontpage.domain.languages import partition_of
from frontpage.errors import UnreadableInput

#: Characters of a text that a feed's summary may carry (licence boundary: 200 at most are ever shown).
SUMMARY: Final = 200
#: A line longer than this is not an article: it is refused before it is parsed.
LONGEST_LINE: Final = 4 << 20
#: 2100-01-01 in seconds; what is beyond is milliseconds, or no time at all.
_LATEST: Final = 4_102_444_800
#: Real seconds between two sends at most; what is due meanwhile goes together.
TICK: Final = 0.2


@dataclass
class Report:
    """What became of the lines. `reasons` holds (line number, cause) of each rejected line."""

    lines: int = 0
    published: int = 0
    by_topic: dict[str, int] = field(default_factory=dict)
    reasons: list[tuple[int, str]] = field(default_factory=list)
    rejected_file: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A line that can be published: `at` is its own time in seconds, None when it has none."""

    at: float | None
    make: Callable[[float], Outgoing]


def replay(
    path: Path,
    speed: float,
    *,
    producer: Producer,
    clock: Clock,
    stop: threading.Event,
    complain: Callable[[int, str], None],
) -> Report:
    """Publish the file's lines in order, `speed` times as fast as their times say (0: as fast as possible).

    Lines without a time go with the one before. Raises ServiceUnavailable when Kafka goes away for long.
    """
    report = Report()
    rejected = Path(f"{path}.rejected")
    first: float | None = None
    waited = 0.0
    due: list[Outgoing] = []
    with _lines(path) as lines, _Quarantine(rejected) as quarantine:
        for number, raw in enumerate(_until_damage(lines, lambda: _send(producer, due, report)), 1):
            if stop.is_set():
                break
            if not raw.strip():
                continue
            report.lines += 1
            try:
                row = read_row(raw)
            except UnreadableInput as error:
                report.reasons.append((number, str(error)))
                complain(number, str(error))
                quarantine.put(raw)
                continue
            if speed > 0 and row.at is not None:
                first = row.at if first is None else first
                wait = (row.at - first) / speed - waited
                if wait > TICK:
                    _send(producer, due, report)
                    stop.wait(wait)
                    waited += wait
            due.append(row.make(clock.now()))
            if len(due) >= 500:
                _send(producer, due, report)
        _send(producer, due, report)
        report.rejected_file = str(rejected) if quarantine.used else None
    return report


def read_row(raw: bytes) -> Row:
    """The publishable form of one line; raises UnreadableInput with a cause."""
    if len(raw) > LONGEST_LINE:
        raise UnreadableInput(f"longer than {LONGEST_LINE >> 20} MiB", cause="too-long")
    fields = read_fields(raw)
    return _event_row(fields) if "schema" in fields else _article_row(fields)


def _event_row(fields: dict[str, Any]) -> Row:
    schema = fields["schema"]
    name = schema.get("name") if isinstance(schema, dict) else None
    kinds: dict[str, type[Event]] = {
        kind.schema_name: kind for kind in (FeedItem, ArticleEvent, Click, ReaderEvent)
    }  # fmt: skip
    if name not in kinds:
        raise UnreadableInput(f"{name!r:.60} cannot be replayed, only {', '.join(kinds)}", cause="not-an-input")
    event = kinds[name].from_fields(fields)
    if isinstance(event, FeedItem):
        item = event
        return Row(item.seen_at, lambda now: _item(item.model_copy(update={"seen_at": now, "arrived_by": "replay"})))
    if isinstance(event, ArticleEvent):
        language = event.card.language
        out = Outgoing(ARTICLES.name, language, event.encode(), partition_of(language))
        return Row(event.card.first_seen_at, lambda _: out)
    reader = cast(Click | ReaderEvent, event)
    topic = READER_CLICKS if isinstance(event, Click) else READER_EVENTS
    return Row(
        reader.at, lambda now: Outgoing(topic.name, reader.article_id, reader.model_copy(update={"at": now}).encode())
    )


def _article_row(fields: dict[str, Any]) -> Row:
    url, title = fields.get("url"), fields.get("title")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise UnreadableInput(f"no http address in `url`: {url!r:.60}", cause="invalid-fields")
    if not isinstance(title, str) or not title.strip():
        raise UnreadableInput("no `title`", cause="invalid-fields")
    text, publisher = fields.get("text"), fields.get("publisher")
    language = fields.get("lang")
    published = _time(fields.get("published_at"))
    publisher = publisher if isinstance(publisher, str) else ""
    item = FeedItem(
        feed_id=feed_id(f"replay:{publisher}"),
        feed_url="replay:",
        publisher_id=publisher,
        url=url,
        title=title,
        summary=text[:SUMMARY] if isinstance(text, str) else "",
        language=language if isinstance(language, str) else None,
        published_at=published,
        seen_at=0.0,
        arrived_by="replay",
    )
    return Row(published, lambda now: _item(item.model_copy(update={"seen_at": now})))


def _item(item: FeedItem) -> Outgoing:
    return Outgoing(ITEMS_RAW.name, url_key(item.url), item.encode())


def _time(value: object) -> float | None:
    """Seconds, or ISO 8601 with a zone (without one: UTC); None when unknown; raises UnreadableInput otherwise."""
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if abs(value) > _LATEST:
            raise UnreadableInput(f"`published_at` is not in seconds: {value!r:.40}", cause="invalid-fields")
        return float(value)
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            pass
        else:
            return datetime.fromisoformat(f"{value}+00:00").timestamp() if found.tzinfo is None else found.timestamp()
    raise UnreadableInput(f"`published_at` is neither seconds nor ISO 8601: {value!r:.40}", cause="invalid-fields")


def _send(producer: Producer, due: list[Outgoing], report: Report) -> None:
    if due:
        producer.send(due)
        report.published += len(due)
        for out in due:
            report.by_topic[out.topic] = report.by_topic.get(out.topic, 0) + 1
        due.clear()


def _until_damage(lines: Iterator[bytes], settle: Callable[[], None]) -> Iterator[bytes]:
    """`lines`; what was read before an archive's damage is settled before the error goes on."""
    try:
        yield from lines
    except UnreadableInput:
        settle()
        raise


@contextlib.contextmanager
def _lines(path: Path) -> Iterator[Iterator[bytes]]:
    """The lines of a plain or gzip file, as bytes; a damaged archive raises UnreadableInput."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:

        def read() -> Iterator[bytes]:
            try:
                while line := file.readline(LONGEST_LINE + 1):
                    if not line.endswith(b"\n"):
                        while rest := file.readline(LONGEST_LINE):  # the remainder of an endless line is not kept
                            if rest.endswith(b"\n"):
                                break
                    yield line
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise UnreadableInput(f"{path} ends damaged: {error}", cause="bad-archive") from None

        yield read()


class _Quarantine:
    """The rejected lines, in a file that exists only when there are any."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None
        self.used = False

    def __enter__(self) -> _Quarantine:
        self._path.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def put(self, raw: bytes) -> None:
        if self._file is None:
            self._file, self.used = self._path.open("wb"), True
        self._file.write(raw if raw.endswith(b"\n") else raw + b"\n")


def report_row(report: Report) -> dict[str, Any]:
    """JSON for `--json`."""
    return {
        "lines": report.lines,
        "published": report.published,
        "topics": report.by_topic,
        "rejected": [{"line": number, "cause": cause} for number, cause in report.reasons],
        "rejected_file": report.rejected_file,
    }


def report_text(report: Report) -> str:
    """One line for people."""
    told = f"{report.published} of {report.lines} lines published {json.dumps(report.by_topic)}"
    return f"{told}, {len(report.reasons)} rejected: {report.rejected_file}" if report.reasons else told
