"""Decisions a second of one story writer's mind, and the memory of its stories, at three numbers of active stories.

    python -m benchmarks.decisions [--stories 10000 50000 240000] [--decisions 3000]

Each size in a process of its own, with one thread, as `frontpage up` starts the writer. The clusterer is filled as a
warm standby fills itself: changes are followed, not decided. Stories are those of `story_generator.py`, whole up to
50,000; above that, only single articles are added, since making and following all reports would take a quarter of an
hour (`articles` says how many there are). Then articles of stories that the clusterer does not know are decided, in
order of time; their signals are made before. No Kafka, no encoding.

Figures end with the number of stories. decisions_s is by the wall clock and decisions_cpu_s by the thread's processor
time: on a shared machine the first is a lower bound. p50, p99: milliseconds of one decision by the wall clock.
first_ms: the first decision, which builds the graph of neighbours above 20,000 stories, and is not in the others.
rss_mib: growth of the process from before the fill until after the first decision, signals included.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from typing import Any, Final

import numpy as np
import psutil
from rich.console import Console

from benchmarks import story_generator
from benchmarks.harness import HERE, judge, record
from frontpage.adapters.story_models import policy_for
from frontpage.domain.article import ArticleSignals
from frontpage.domain.clustering import Clusterer
from frontpage.domain.following import follow
from frontpage.domain.story import Change, ChangeKind, StoryBook

SIZES: Final = (10_000, 50_000, 240_000)
#: Stories that are filled in whole; the rest are single articles.
WHOLE: Final = 50_000
#: Chunks whose articles are decided; those of a fill are far below.
DECIDED: Final = 1_000_000
#: Chunks that are made ahead: bounds what waits in memory.
AHEAD: Final = 4


def filled(clusterer: Clusterer, stories: int) -> None:
    """Follow changes until so many stories are open; nothing is left running."""
    book = clusterer.book

    def take(article: ArticleSignals, label: str) -> None:
        number = book.sequence + 1
        kind: ChangeKind = "assign" if label in book.stories else "create"
        follow(clusterer, Change(f"fill-{number}", number, "en", kind, label, article.at or 0.0, article=article))

    with ProcessPoolExecutor(2) as pool:
        for found in _ahead(pool, story_generator.chunk):
            for article, label in found:
                if label in book.stories or len(book.stories) < min(stories, WHOLE):
                    take(article, label)
            if len(book.stories) >= min(stories, WHOLE):
                break
        for found in _ahead(pool, story_generator.singles) if stories > WHOLE else ():
            for article in found[: stories - len(book.stories)]:
                take(article, article.article_id)
            if len(book.stories) >= stories:
                break


def _ahead(pool: ProcessPoolExecutor, make: Callable[[int], Any]) -> Iterator[Any]:
    """Chunks 0, 1, ... in order; a few are made ahead."""
    numbers = itertools.count()
    waiting: list[Future[Any]] = [pool.submit(make, next(numbers)) for _ in range(AHEAD)]
    try:
        while True:
            found = waiting.pop(0).result()
            waiting.append(pool.submit(make, next(numbers)))
            yield found
    finally:
        wait(waiting)


def measured(stories: int, decisions: int) -> dict[str, float]:
    """Figures of this process at one number of stories."""
    chunks = -(-decisions // story_generator.CHUNK)
    stream = [found for number in range(chunks) for found in story_generator.chunk(DECIDED + number)]
    timed = sorted(((article.at or 0.0, article) for article, _ in stream), key=lambda one: (one[0], one[1].article_id))
    (first_at, first), *rest = timed[:decisions]
    clusterer, process = Clusterer(policy_for, StoryBook()), psutil.Process()
    clusterer.policy("en")
    gc.collect()
    before = process.memory_info().rss
    began = time.perf_counter()
    filled(clusterer, stories)
    seconds = time.perf_counter() - began
    held = len(clusterer.book.story_of)
    began = time.perf_counter()
    clusterer.decide(first, first_at, ("articles.normalised", 0, 0))
    first_ms = 1e3 * (time.perf_counter() - began)
    gc.collect()
    grown = process.memory_info().rss - before
    spent, created = np.zeros(len(rest)), len(clusterer.book.stories)
    cpu = time.thread_time()
    for number, (at, article) in enumerate(rest):
        began = time.perf_counter()
        clusterer.decide(article, at, ("articles.normalised", 0, number + 1))
        spent[number] = time.perf_counter() - began
    cpu = time.thread_time() - cpu
    return {
        "decisions_s": len(rest) / float(spent.sum()), "decisions_cpu_s": len(rest) / cpu,
        "p50_ms": 1e3 * float(np.percentile(spent, 50)), "p99_ms": 1e3 * float(np.percentile(spent, 99)),
        "first_ms": first_ms, "joined_share": 1 - (len(clusterer.book.stories) - created) / len(rest),
        "articles": held, "rss_mib": grown / 2**20, "bytes_a_story": grown / stories, "fill_s": seconds,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Measure each size in a process of its own, show and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stories", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--decisions", type=int, default=3_000)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measured(options.one, options.decisions)))
        return 0
    figures: dict[str, float] = {}
    for stories in options.stories:
        asked = ["--one", str(stories), "--decisions", str(options.decisions)]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.decisions", *asked],
            env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, text=True, check=True, timeout=1_800,
        )  # fmt: skip
        found = json.loads(done.stdout.splitlines()[-1])
        print(f"{stories:,} stories: {found}", flush=True)
        figures |= {f"{name}_{stories}": value for name, value in found.items()}
        record("decisions", figures, "one English writer's mind, features given; load is that of the run's end")
    _, broken = judge("decisions", figures, Console(), HERE / "targets.toml")
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
