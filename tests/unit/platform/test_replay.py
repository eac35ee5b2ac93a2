"""`frontpage replay`: what a line becomes, and that a bad line never stops the rest."""

from __future__ import annotations

import gzip
import json
import threading
import time
from pathlib import Path

import pytest
from fakes.bus import MemoryBus

from frontpage.contracts.events import FeedItem
from frontpage.contracts.reader_events import Click
from frontpage.errors import UnreadableInput
from frontpage_cli.system.replay import LONGEST_LINE, Report, read_row, replay


class Fixed:
    def now(self) -> float:
        return 5_000.0

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


def article(number: int, published_at: object = 100.0) -> dict[str, object]:
    return {
        "id": str(number), "title": f"Title {number}", "text": "word " * 200, "publisher": "Paper", "lang": "en",
        "url": f"https://paper.example/{number}", "published_at": published_at,
    }  # fmt: skip


def run(path: Path, speed: float = 0.0) -> tuple[Report, MemoryBus, list[tuple[int, str]]]:
    bus, complaints = MemoryBus(), []
    report = replay(
        path, speed, producer=bus.producer(), clock=Fixed(), stop=threading.Event(),
        complain=lambda number, cause: complaints.append((number, cause)),
    )  # fmt: skip
    return report, bus, complaints


def test_articles_become_feed_items_seen_now_and_clipped(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(json.dumps(article(n)) for n in range(3)))
    report, bus, _ = run(path)
    items = [FeedItem.decode(record.value) for record in bus.records("items.raw")]
    assert report.published == 3
    assert {item.url for item in items if item} == {f"https://paper.example/{n}" for n in range(3)}
    assert {(item.seen_at, item.published_at, item.arrived_by, len(item.summary)) for item in items if item} == {
        (5_000.0, 100.0, "replay", 200)
    }
    assert not Path(f"{path}.rejected").exists()


def test_bad_lines_are_named_counted_and_set_aside_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    good = json.dumps(article(1)).encode()
    bad = [
        b'{"half": ',
        b"\xff\xfe\x00",
        json.dumps(article(2) | {"url": "javascript:alert(1)"}).encode(),
        json.dumps(article(3, "yesterday")).encode(),
        json.dumps(article(4, 1.77e12)).encode(),
        json.dumps(article(5, 10**400)).encode(),
        b'{"url": "https://a.example/", "title": "half a pair \\ud800"}',
        b'{"url": "https://a.example/", "title": "x", "published_at": 1e999}',
        b'{"schema": {"name": "story.changes", "version": 1}}',
        b'{"schema": {"name": "reader.clicks", "version": 9}}',
        b"x" * (LONGEST_LINE + 10),
    ]
    path.write_bytes(b"\n".join([good, *bad, good]) + b"\n")
    report, bus, complaints = run(path)
    assert (report.lines, report.published) == (13, 2)
    assert [number for number, _ in complaints] == list(range(2, 13))
    assert complaints == report.reasons
    assert report.rejected_file == f"{path}.rejected"
    kept = Path(report.rejected_file).read_bytes().splitlines()
    assert kept[:10] == bad[:10]
    assert len(bus.records("items.raw")) == 2


def test_events_keep_their_topic_and_take_the_present_time(tmp_path: Path) -> None:
    click = Click(
        click_id="c", at=1.0, article_id="a", story_id="s", publisher_id="p", url="https://p.example/", surface="top",
        position=0, edition="en-US",
    )  # fmt: skip
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(click.encode()))
    report, bus, _ = run(path)
    (record,) = bus.records("reader.clicks")
    assert report.by_topic == {"reader.clicks": 1}
    assert Click.decode(record.value) == click.model_copy(update={"at": 5_000.0})
    assert record.key == "a"


def test_what_an_archive_holds_before_its_damage_is_published(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    lines = b"".join(json.dumps(article(n)).encode() + b"\n" for n in range(3000))
    path.write_bytes(gzip.compress(lines)[:-40])
    bus = MemoryBus()
    with pytest.raises(UnreadableInput, match="ends damaged"):
        replay(
            path, 0.0, producer=bus.producer(), clock=Fixed(), stop=threading.Event(), complain=lambda *_: None,
        )  # fmt: skip
    assert len(bus.records("items.raw")) > 2000
    assert len(bus.records("items.raw")) % 500, "what waited for its batch to fill, too"


def test_a_truncated_archive_is_an_error_with_a_cause(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(article(1)).encode() * 500)[:-20])
    with pytest.raises(UnreadableInput, match="ends damaged"):
        run(path)


def test_speed_keeps_the_distances_in_time(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(json.dumps(article(n, 100.0 + 60 * n)) for n in range(3)))
    began = time.monotonic()
    report, _, _ = run(path, speed=120)
    assert report.published == 3
    assert 0.9 < time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("told", "seconds"),
    [(None, None), (12, 12.0), ("1970-01-01T00:01:00Z", 60.0), ("1970-01-01T00:01:00", 60.0), ("1970-01-02", 86400.0)],
)
def test_times_of_articles(told: object, seconds: float | None) -> None:
    assert read_row(json.dumps(article(1, told)).encode()).at == seconds
