"""Seconds from `articles.normalised` to a read-committed `story.changes`, at a sustained rate of articles.

    python -m benchmarks.writer_latency [--rate 50] [--seconds 60] [--warm 20]

Real Kafka and Valkey and the real `streaming.cluster.writer` of the English partition are processes of their own on the
same processors as this one, in real time with default intervals. Articles of `story_generator.py`, encoded before, are
sent on a fixed schedule in order of their time; the writer starts with no stories and meets the stream for `--warm`
seconds before anything counts. A consumer of committed records notes when each article is in a story.

An article's delay begins when the schedule has it sent, so that a broker or sender that is late counts as well, and
ends when the consumer has its change in hand. sent_late: how late the sender was. unanswered: articles without a change
a minute after the last one was sent; they have no delay, and any makes the run fail. rate_s: changes a second between
the first and last article that counts. stories: at the end.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console

from benchmarks import story_generator
from benchmarks.harness import HERE, judge, record
from benchmarks.processes import running
from frontpage.adapters.bus import Outgoing
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.events import ArticleCard, ArticleEvent, StoryChange
from frontpage.contracts.story_codec import to_signals
from frontpage.contracts.topics import ALL, ARTICLES, STORY_CHANGES
from frontpage.domain.article import ArticleSignals
from frontpage.domain.languages import partition_of
from frontpage.settings import Settings

PARTITION: Final = partition_of("en")
#: Chunks that the articles come from: of their own, so that the other benchmarks' fills do not hold them.
FIRST: Final = 2_000_000
#: Seconds in which the writer has to be there, and to answer what is left at the end.
START, PATIENCE = 90.0, 60.0


def encoded(article: ArticleSignals, now: float) -> bytes:
    """The record on `articles.normalised`, seen and published `now`."""
    article = replace(article, at=now)
    host = f"{article.publisher_id}.example"
    card = ArticleCard(
        article_id=article.article_id, url=f"https://{host}/{article.article_id}", title=article.title,
        publisher_id=article.publisher_id, publisher=article.publisher_id, domain=host, language="en",
        published_at=now, first_seen_at=now,
    )  # fmt: skip
    event = ArticleEvent(card=card, signals=to_signals(article), content_hash=article.article_id, fetched_url=card.url)
    return event.encode()


@dataclass
class Reader:
    """Notes when the change that puts an article into a story is there for consumers (monotonic seconds)."""

    bus: KafkaBus
    stop: threading.Event = field(default_factory=threading.Event)
    seen: dict[str, float] = field(default_factory=dict)
    stories: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Until `stop`."""
        consumer = self.bus.consumer("bench-writer-latency", [STORY_CHANGES.name], partitions=[PARTITION])
        try:
            while not self.stop.is_set():
                records = consumer.poll(500, 0.2)
                now = time.monotonic()
                for one in records:
                    change = StoryChange.decode(one.value)
                    if change is None:
                        continue
                    self.stories.add(change.story_id)
                    if change.article is not None and change.kind in ("create", "assign"):
                        self.seen.setdefault(change.article.article_id, now)
        finally:
            consumer.close()


def sustained(bus: KafkaBus, reader: Reader, rate: float, warm: float, seconds: float) -> dict[str, float]:
    """Send at `rate` for `warm + seconds`; figures of the articles that were due after `warm`."""
    count = int(rate * (warm + seconds)) + 1
    made = sorted(
        story_generator.generate(-(-count // story_generator.CHUNK) * story_generator.CHUNK, FIRST),
        key=lambda one: (one[0].at or 0.0, one[0].article_id),
    )[:count]
    now = time.time()
    head, *values = [(article.article_id, encoded(article, now)) for article, _ in made]
    producer = bus.producer()
    producer.send([Outgoing(ARTICLES.name, "en", head[1], PARTITION)])
    deadline = time.monotonic() + START
    while head[0] not in reader.seen:
        if time.monotonic() > deadline:
            raise TimeoutError("the writer decided nothing")
        time.sleep(0.1)
    began, due, late = time.monotonic(), {}, []
    for number, (article_id, value) in enumerate(values):
        due[article_id] = began + number / rate
        time.sleep(max(0.0, due[article_id] - time.monotonic()))
        producer.send([Outgoing(ARTICLES.name, "en", value, PARTITION)])
        late.append(time.monotonic() - due[article_id])
    producer.close()
    deadline = time.monotonic() + PATIENCE
    while not due.keys() <= reader.seen.keys() and time.monotonic() < deadline:
        time.sleep(0.1)
    counted = [article_id for article_id, at in due.items() if at >= began + warm]
    answered = sorted(reader.seen[one] for one in counted if one in reader.seen)
    delays = [reader.seen[one] - due[one] for one in counted if one in reader.seen]
    figures = {"articles": len(counted), "unanswered": len(due.keys() - reader.seen.keys()), "rate_asked_s": rate}
    if not delays:
        return figures
    return {
        **figures, "rate_s": len(answered) / max(answered[-1] - answered[0], 1e-9), "stories": len(reader.stories),
        **{f"p{at}_s": float(np.percentile(delays, at)) for at in (50, 95, 99)}, "max_s": max(delays),
        "sent_late_p99_s": float(np.percentile(late, 99)),
    }  # fmt: skip


def main() -> int:
    """Start everything, measure, show and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--warm", type=float, default=20.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontpage-latency-") as place, ExitStack() as stack:
        root, cache = Path(place), Settings().cache
        ports = [free_port() for _ in range(3)]
        command = valkey_service.command(root / "valkey", ports[0], max_memory=1 << 30)
        stack.enter_context(running(command, root / "valkey.log"))
        command = kafka_service.command(root / "kafka", jars.java(), jars.kafka_jars(cache), ports[1], ports[2])
        stack.enter_context(running(command, root / "kafka.log"))
        bootstrap = f"127.0.0.1:{ports[1]}"
        valkey_service.wait_ready(ports[0])
        kafka_service.wait_ready(bootstrap)
        kafka_service.ensure_topics(bootstrap, ALL)
        # the values with which `frontpage up` starts its parts
        os.environ |= {
            "KAFKA_BOOTSTRAP_SERVERS": bootstrap, "REDIS_URL": f"redis://127.0.0.1:{ports[0]}/0",
            "FRONTPAGE_VAR": str(root / "var"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip
        command = [sys.executable, "-m", "streaming.cluster.writer", "--partitions", str(PARTITION)]
        writer = stack.enter_context(running(command, root / "writer.log"))
        reader = Reader(KafkaBus(bootstrap))
        thread = threading.Thread(target=reader.run, name="reader")
        thread.start()
        try:
            figures = sustained(reader.bus, reader, options.rate, options.warm, options.seconds)
        except BaseException:
            print((root / "writer.log").read_text(encoding="utf-8", errors="replace")[-3_000:], file=sys.stderr)
            raise
        finally:
            reader.stop.set()
            thread.join(30)
        died = writer.poll() is not None
    record("writer_latency", figures, "one English writer; Kafka, Valkey and this process share the processors")
    _, broken = judge("writer_latency", figures, Console(), HERE / "targets.toml")
    return int(broken > 0 or died or figures["unanswered"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
