"""The sample world through the whole system while every process of ours is killed once: nothing lost, nothing doubled."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fakes.body_search import BodySearch
from running import RunningSystem

from data_samples.world import World, build
from frontpage.adapters.clock import set_clock
from frontpage.contracts import views
from frontpage.contracts.events import ArticleEvent, DeadLetter, StoryChange
from frontpage.contracts.topics import ALL, ARTICLES, ITEMS_DEAD, STORY_CHANGES
from frontpage.contracts.views import ARTICLE, STORY, StoryRow
from frontpage.domain.ids import article_id
from frontpage.domain.urls import canonicalise
from frontpage_cli.system.backlog import backlog
from frontpage_cli.system.parts import PARTS
from streaming.ingest.poller import CLAIM_REAL
from streaming.ingest.registry import import_world

HOURS = 5.0
SPEED = 180.0
#: Ours: services are killed in test_services.py, Dagster's own processes hold no news.
OURS = [part.name for part in PARTS if part.group in ("world", "speed", "serving")]
ORDER = sorted(OURS, key=lambda name: (name == "serving", name))


def members(system: RunningSystem) -> Counter[str]:
    """How many story rows list each article."""
    with system.redis() as store:
        rows = [StoryRow.model_validate_json(store.get(key)) for key in store.scan_iter(STORY.key(story="*"))]
    return Counter(member.article.article_id for row in rows for member in row.members)


#: Every key that the table of views allows.
KEYS = re.compile(
    "|".join(
        re.sub(r"\\{\w+\\}", ".+", re.escape(view.pattern))
        for view in vars(views).values()
        if isinstance(view, views.View)
    )
)


@pytest.fixture
def running(tmp_path: Path, jar_cache: Path) -> Iterator[RunningSystem]:
    quick = {"FRONTPAGE_POLL_CEILING": "300", "FRONTPAGE_EDITIONS": "en-US,de-DE"}
    with RunningSystem(tmp_path, jar_cache, **quick) as system:
        yield system


def expected(world: World, until: float) -> set[str]:
    """Articles that feeds of publishers who did not opt out have shown by then, an hour before at the latest."""
    opted = {publisher.id for publisher in world.publishers if publisher.opted_out}
    return {
        article_id(canonicalise(article.url).canonical)
        for article in world.articles
        if article.published_at < until and article.publisher_id not in opted
    }


def world_url(world: World, id: str) -> str:
    return next(a.url for a in world.articles if article_id(canonicalise(a.url).canonical) == id)


def behind(system: RunningSystem) -> dict[str, int]:
    """Groups with records still to read, by topic."""
    groups = backlog(system.endpoints["kafka"])
    return {f"{group}/{topic}": n for group, topics in groups.items() for topic, n in topics.items() if n}


@pytest.mark.timeout(900)
def test_every_process_may_die_while_news_flows(running: RunningSystem) -> None:
    world = build()
    running.up("services", "world")
    with running.redis() as store:
        set_clock(store, virtual=world.start, speed=1.0)
        import_world(world, store, world.start)
    running.up("world", "speed", "serving")
    end = world.start + HOURS * 3600
    with running.redis() as store:
        set_clock(store, virtual=world.start, speed=SPEED, until=end)
    for part in ORDER:
        killed = running.kill(part)
        running.wait_ready(part, not_pid=killed)
    ids = expected(world, end - 3600)
    bus, missing = running.bus, set[str]()

    def first_assignments() -> list[str]:
        found = []
        for partition, stop in bus.end_offsets(STORY_CHANGES.name).items():
            for record in bus.read(STORY_CHANGES.name, partition, 0, stop):
                change = StoryChange.decode(record.value)
                if change is not None and change.kind in ("create", "assign") and change.article is not None:
                    found.append(change.article.article_id)
        return found

    deadline, went_on = time.monotonic() + 300, False
    while (late := behind(running)) or (missing := ids - set(first_assignments())):
        if missing and not late and not went_on:
            # on a slow machine the poller dies so late that its claims outlive the five hours
            with running.redis() as store:
                set_clock(store, virtual=end, speed=SPEED, until=end + CLAIM_REAL * SPEED + 3600)
            went_on, deadline = True, deadline + 150
        assert time.monotonic() < deadline, f"behind: {late}; missing: {[world_url(world, id) for id in missing]}"
        time.sleep(2.0)

    assigned = Counter(first_assignments())
    assert len(ids) > 50
    assert {article: n for article, n in assigned.items() if n > 1} == {}, "an article was assigned twice"
    versions = Counter(
        (event.card.article_id, event.card.version)
        for partition, stop in bus.end_offsets(ARTICLES.name).items()
        for record in bus.read(ARTICLES.name, partition, 0, stop)
        if (event := ArticleEvent.decode(record.value)) is not None
    )
    assert [key for key, n in versions.items() if n > 1] == [], "a version was published twice"
    dead = [
        letter
        for partition, stop in bus.end_offsets(ITEMS_DEAD.name).items()
        for record in bus.read(ITEMS_DEAD.name, partition, 0, stop)
        if (letter := DeadLetter.decode(record.value)) is not None
    ]
    assert [letter.detail for letter in dead if letter.process != "ingest.enrich"] == []
    sequences = Counter(
        (partition, change.sequence)
        for partition, stop in bus.end_offsets(STORY_CHANGES.name).items()
        for record in bus.read(STORY_CHANGES.name, partition, 0, stop)
        if (change := StoryChange.decode(record.value)) is not None
    )
    assert max(sequences.values()) == 1, "two writers decided at once"
    with running.redis() as store:
        assert {key for key in map(bytes.decode, store.scan_iter()) if not KEYS.fullmatch(key)} == set()
        assert all(store.exists(ARTICLE.key(article=article)) for article in ids)
    # Articles of the last hour may still arrive: the rows are compared with the log as it is when they were read.
    deadline = time.monotonic() + 120
    while (listed := members(running)).keys() != set(logged := first_assignments()):
        difference = listed.keys() ^ set(logged)
        assert time.monotonic() < deadline, f"the story rows differ from the log: {difference}"
        time.sleep(2.0)
    assert max(listed.values()) == 1, "an article is in two stories"
    page = httpx.get(f"{running.endpoints['page']}/v1/editions/en-US/top", timeout=10).json()
    assert page.get("items"), "no page after the kills"
    no_body_text_is_kept(running, world)


def no_body_text_is_kept(running: RunningSystem, world: World) -> None:
    """The licence boundary, after a run with failures: no topic, key, thumbnail, log or other file has body text."""
    search = BodySearch(article for article in world.articles if article.published_at < world.start + HOURS * 3600)
    search.look_at_topics(running.bus, [topic.name for topic in ALL])
    with running.redis() as store:
        search.look_at_redis(store)
    seen = search.control
    search.look_at_files(running.var)
    assert search.found == {}
    assert seen > 100, "headlines and snippets are there, so the search can find text"
    assert search.control > seen, "in files, too"
    assert {"topic", "key", "file"} <= search.looked.keys()
