"""A doubtful merge of top stories: held by the writer, decided from the command line or the page, carried out once."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jwt
import pytest
import redis
import typer
from fakes.bus import MemoryBus
from fakes.serving_app import SECRET, make
from fakes.speed import NOW, article
from fakes.stories import policy
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.clock import ReplayClock, set_clock
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import StoryChange
from frontpage.contracts.review_events import StoryReview
from frontpage.contracts.topics import ARTICLES, STORY_CHANGES, STORY_REVIEWS
from frontpage.contracts.views import STORY, StoryRow
from frontpage.domain.clustering import Clusterer, Policy
from frontpage.domain.story import StoryBook
from frontpage.errors import NotFound, UnreadableInput
from frontpage.runtime import Runtime
from frontpage.settings import Settings
from frontpage_cli.commands import merges
from serving.app import create_app
from streaming.cluster.front import FrontPages
from streaming.cluster.store import StoreWork
from streaming.cluster.writer import Tenures
from streaming.rank.ranker import Ranker

#: The first joins nothing, the second finds the merge just sure enough: log-odds are clipped at 8.
APART = replace(policy(), join=20.0, merge=21.0)
DOUBTFUL = replace(policy(), join=6.0, merge=7.4)


class System:
    """Two stories of one event on a front page, one tenure at a time."""

    def __init__(self, store: redis.Redis) -> None:
        self.bus, self.store = MemoryBus(), store
        self.runtime = Runtime(Settings(), self.bus, store, ReplayClock(store), "", "")
        self.moved = 0.0
        events = [
            article(f"{n}", event=event, publisher=f"pub-{n}", title=f"Quake quakealpha quakebeta report {n}")
            for n, event in enumerate(("quake", "tremor"))
        ]
        self.bus.producer().send([Outgoing(ARTICLES.name, "en", event.encode(), 0) for event in events])
        self.tenure(APART)
        ranker = Ranker(self.bus, store, self.bus.transactional("ranker"), editions="en-GB")
        ranker.cycle(NOW + 1)

    def now(self) -> float:
        return NOW + self.moved

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds

    def tenure(self, bars: Policy = DOUBTFUL) -> list[str]:
        """Serve what waits and repair, half an hour later; the kinds of the changes made."""
        self.moved += 1_801.0
        before = len(self.changes())
        stop, turns = threading.Event(), []

        def beat(partition: int, book: StoryBook) -> None:
            turns.append(0)
            if len(turns) == 3:
                stop.set()

        def minds(book: StoryBook, partition: int) -> Clusterer:
            return Clusterer(lambda _: replace(bars, scorer=policy().scorer), book, partition=partition)

        Tenures(
            self.bus, self, 0, minds=minds, repair_interval=0.0, beat=beat, front=FrontPages(self.store, 0)
        ).serve(lambda: None, stop)  # fmt: skip
        made = self.changes()[before:]
        StoreWork(self.bus, self.store, self.runtime.clock).handle(self.bus.records(STORY_CHANGES.name))
        return [change.kind for change in made]

    def changes(self) -> list[StoryChange]:
        found = [StoryChange.decode(record.value) for record in self.bus.records(STORY_CHANGES.name)]
        return [change for change in found if change is not None]

    def reviews(self) -> list[StoryReview]:
        found = [StoryReview.decode(record.value) for record in self.bus.records(STORY_REVIEWS.name)]
        return [event for event in found if event is not None]


@pytest.fixture
def system(valkey: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[System]:
    monkeypatch.setattr("streaming.cluster.writer.POLL", 0.01)
    monkeypatch.setattr("streaming.cluster.writer.REST", 0.0)
    store = open_redis(valkey)
    set_clock(store, virtual=NOW, speed=1.0)
    made = System(store)
    monkeypatch.setattr("frontpage.runtime.connect", lambda settings: made.runtime)
    yield made
    store.close()


def command(*arguments: str) -> str:
    app = typer.Typer()
    merges.register(app)
    result = CliRunner().invoke(app, ["merges", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def listed() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(command("list", "--json"))
    return found


def test_it_is_held_listed_and_carried_out_once_when_accepted(system: System):
    assert system.tenure() == []
    assert system.tenure() == [], "the next tenure knows what is held"
    (held,) = listed()
    assert [side["articles"] for side in held["stories"]] == [1, 1]
    assert held["bar"] < held["score"] <= held["bar"] + 1.0
    assert held["merge_id"] in command("list")
    assert command("accept", held["merge_id"], "--by", "ann") == "accepted\n"
    assert command("accept", held["merge_id"]) == "was accepted before\n"
    with pytest.raises(UnreadableInput, match="was accepted by ann"):
        command("reject", held["merge_id"])
    told = system.reviews()[-1]
    system.bus.producer().send([Outgoing(STORY_REVIEWS.name, "en", told.encode(), 0)])  # delivered twice
    assert system.tenure() == ["merge"]
    merge = system.changes()[-1]
    assert merge.evidence == {"why": "accepted by a person", "review": held["merge_id"]}
    assert {merge.story_id, *merge.absorbed} == {side["story_id"] for side in held["stories"]}
    row = StoryRow.model_validate_json(system.store.get(STORY.key(story=merge.story_id)))
    assert row.history[-1]["why"] == "accepted by a person"
    assert system.tenure() == []
    assert listed() == []
    assert [event.kind for event in system.reviews()] == ["held", "accepted", "accepted"]


def test_a_rejected_one_stays_apart_over_restarts(system: System):
    system.tenure()
    (held,) = listed()
    assert command("reject", held["merge_id"]) == "rejected\n"
    assert system.tenure() == []
    assert system.tenure(replace(DOUBTFUL, merge=6.5)) == [], "however sure, and in later tenures"
    assert listed() == []


def test_a_merge_off_the_front_page_needs_nobody(system: System):
    for key in system.store.keys("page:*"):
        system.store.delete(key)
    assert system.tenure() == ["merge"]
    with pytest.raises(NotFound):
        command("accept", "no such merge")


def test_operators_decide_on_the_page(system: System, valkey: str):
    system.tenure()
    parts, _, _ = make(valkey)
    parts.bus = system.bus

    def token(**claims: str) -> str:
        return jwt.encode({"sub": "ann", "exp": time.time() + 600, **claims}, SECRET, "HS256")

    def basic(password: str) -> dict[str, str]:
        return {"Authorization": "Basic " + base64.b64encode(f"ann:{password}".encode()).decode()}

    operator, reader = token(role="operator"), token()
    with TestClient(create_app(parts), follow_redirects=False) as client:
        for headers in ({}, basic("guess"), {"Authorization": "Basic !"}, {"Authorization": f"Other {operator}"}):
            refused = client.get("/operations/merges", headers=headers)
            assert refused.status_code == 401
            assert refused.headers["WWW-Authenticate"].startswith("Basic ")
        assert client.get("/operations/merges", headers=basic(reader)).status_code == 403
        page = client.get("/operations/merges", headers=basic(operator))
        assert page.status_code == 200
        assert page.headers["Cache-Control"] == "private, no-store"
        assert page.text.count("Quake quakealpha quakebeta report") == 2
        address = f"/operations/merges/{system.reviews()[0].review_id}"
        assert address in page.text
        form = {"decision": "accept"}
        other = {**basic(operator), "Origin": "https://elsewhere.example"}
        assert client.post(address, data=form, headers=other).status_code == 403
        assert client.post(address, data=form, headers=basic(reader)).status_code == 403
        assert client.post(address, data={"decision": "perhaps"}, headers=basic(operator)).status_code == 422
        assert client.post("/operations/merges/nothing", data=form, headers=basic(operator)).status_code == 404
        assert len(system.reviews()) == 1
        for headers in (basic(operator), {"Authorization": f"Bearer {operator}"}):
            assert client.post(address, data=form, headers=headers).headers["Location"] == "/operations/merges"
        assert client.post(address, data={"decision": "reject"}, headers=basic(operator)).status_code == 400
        assert "No merge waits" in client.get("/operations/merges", headers=basic(operator)).text
    assert [(event.kind, event.by) for event in system.reviews()] == [("held", ""), ("accepted", "ann")]
    assert system.tenure() == ["merge"]
