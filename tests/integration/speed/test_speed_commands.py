"""`frontpage stories` and `frontpage pages` over rows and pages in a real Valkey (the bus is in memory)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
import typer
from fakes.bus import MemoryBus
from fakes.speed import NOW, EventClusterer, article
from typer.testing import CliRunner

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.clock import ReplayClock, set_clock
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import StoryChange
from frontpage.contracts.topics import ARTICLES, STORY_CHANGES
from frontpage.domain.story import StoryBook
from frontpage.errors import NotFound
from frontpage.runtime import Runtime
from frontpage.settings import Settings
from frontpage_cli.commands import pages, stories
from streaming.cluster.store import StoreWork
from streaming.cluster.writer import Tenures
from streaming.rank.ranker import Ranker


@pytest.fixture
def store(valkey: str) -> Iterator[redis.Redis]:
    client = open_redis(valkey)
    set_clock(client, virtual=NOW, speed=1.0)
    yield client
    client.close()


@pytest.fixture
def run(store: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A system with two stories that were one page; runs a command and returns its JSON."""
    monkeypatch.setattr("streaming.cluster.writer.POLL", 0.01)
    bus = MemoryBus()
    runtime = Runtime(Settings(), bus, store, ReplayClock(store), "", "")
    monkeypatch.setattr("frontpage.runtime.connect", lambda settings: runtime)
    events = [
        article(name, event=event, publisher=f"pub-{name}")
        for name, event in (("a", "quake"), ("b", "quake"), ("c", "vote"))
    ]
    bus.producer().send([Outgoing(ARTICLES.name, "en", event.encode(), 0) for event in events])
    stop = threading.Event()

    def beat(partition: int, book: StoryBook) -> None:
        if book.sequence == 3:
            stop.set()

    Tenures(bus, runtime.clock, 0, minds=EventClusterer, repair_interval=600, beat=beat).serve(lambda: None, stop)
    ranker = Ranker(bus, store, bus.transactional("ranker"), editions="en-GB")
    ranker.cycle(NOW + 1)
    ids = [change.story_id for r in bus.records(STORY_CHANGES.name) if (change := StoryChange.decode(r.value))]
    merge = StoryChange(
        change_id="m", sequence=4, language="en", kind="merge", story_id=ids[0], absorbed=[ids[2]], at=NOW + 2
    )
    bus.producer().send([Outgoing(STORY_CHANGES.name, "en", merge.encode(), 0)])
    StoreWork(bus, store, runtime.clock).handle(bus.records(STORY_CHANGES.name))
    ranker.cycle(NOW + 60)
    app = typer.Typer()
    stories.register(app)
    pages.register(app)

    def command(*arguments: str) -> Any:
        result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        plain = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
        assert plain.exit_code == 0
        assert plain.output.strip()
        return json.loads(result.output)

    command.ids = ids  # type: ignore[attr-defined]
    return command


def test_show_follows_an_alias_to_the_survivor(run):
    shown = run("stories", "show", run.ids[2])
    assert shown["story_id"] == run.ids[0]
    assert shown["absorbed"] == run.ids[2]
    assert [member["publisher"] for member in shown["members"]] == ["pub-a", "pub-b", "pub-c"]
    assert shown["members"][0]["first_seen_at"].endswith("Z")
    with pytest.raises(NotFound):
        run("stories", "show", "nothing")


def test_explain_tells_of_the_merge_and_of_the_rank(run):
    told = run("stories", "explain", run.ids[0])
    assert [entry["kind"] for entry in told["history"]] == ["create", "merge"]
    (top,) = [place for place in told["ranks"] if place["section"] == "top"]
    assert (top["edition"], top["rank"]) == ("en-GB", 1)
    assert set(top["parts"]) == {"coverage", "velocity", "freshness", "relevance", "clicks"}
    assert top["close_calls_lost"][0]["why"]


def test_pages_are_listed_shown_and_rolled_back(run):
    listed = run("pages", "list", "en-GB", "top")["versions"]
    assert [(row["version"], row["latest"], row["stories"]) for row in listed] == [(2, True, 1), (1, False, 2)]
    assert run("pages", "rollback", "en-GB", "top", "--to", "1")["version"] == 1
    shown = run("pages", "show", "en-GB", "top")
    assert shown["version"] == 1
    assert [card["story_id"] for card in shown["cards"]] == [run.ids[0], run.ids[2]]
    assert shown["cards"][0]["updated_at"].endswith("Z")
    with pytest.raises(NotFound):
        run("pages", "show", "en-GB", "sports")
