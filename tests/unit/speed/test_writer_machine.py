"""Laws of the writer under everything that can happen to it: repeats, corrections, copies, repair, proposals of any kind,
aborted transactions, zombies and restarts. All that counts is read back from the log that others read.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fakes.bus import MemoryBus
from fakes.speed import NOW, article
from fakes.stories import policy
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from frontpage.adapters.bus import Outgoing
from frontpage.contracts.events import StoryChange, StoryProposal
from frontpage.contracts.review_events import StoryReview
from frontpage.contracts.story_codec import from_event, to_signals
from frontpage.contracts.topics import ARTICLES, STORY_CHANGES, STORY_PROPOSALS, STORY_REVIEWS
from frontpage.domain.clustering import Clusterer, Policy
from frontpage.domain.story import StoryBook
from frontpage.errors import Fenced, ServiceUnavailable
from streaming.cluster.rebuild import rebuild
from streaming.cluster.store import row_of
from streaming.cluster.writer import EXPIRE_EVERY, Tenures

EVENTS = ("quake", "vote")
REST = policy().rest
#: Models change between tenures: what a lenient one joins, a strict one takes apart again.
#: Only the fair one sees copies, so that stories have originals enough to be split. Log-odds are clipped at 8: what the
#: strict one merges is never sure, and the first joins nothing.
APART, STRICT, FAIR, LENIENT = (
    replace(policy(), join=join, merge=join + 0.9, part=part, copies=replace(policy().copies, threshold=copy))
    for join, part, copy in ((20.0, 1.0, 99.0), (6.5, 1.0, 99.0), (0.0, -1.0, 0.0), (-7.0, -8.0, 99.0))
)


def mind_of(bars: Policy) -> Callable[[StoryBook, int], Clusterer]:
    """A clusterer with weights of its own, as a tenure has."""

    def fresh(_: str) -> Policy:
        return replace(bars, scorer=policy().scorer)

    return lambda book, partition: Clusterer(fresh, book, partition=partition)


class Clock:
    def __init__(self) -> None:
        self.value = NOW

    def now(self) -> float:
        return self.value

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


def rows(book: StoryBook) -> dict[str, object]:
    """All that readers see of a book, what it counts, and what it decides with."""
    stories = {
        key: (
            row_of(story),
            (story.sources, story.coverage, story.repaired_at, story.closed),
            [(name, to_signals(member.article)) for name, member in story.members.items()],
        )
        for key, story in book.stories.items()
    }
    return {
        "stories": stories,
        "aliases": book.aliases,
        "of": book.story_of,
        "at": book.sequence,
        "gone": book.departed,
    }


class Writers(RuleBasedStateMachine):
    """Input goes to the topics; a tenure serves it, or dies of it, and the next one starts from the log."""

    def __init__(self) -> None:
        super().__init__()
        self.bus, self.clock = MemoryBus(), Clock()
        self.sent: list[bytes] = []
        self.versions: dict[str, int] = {}
        self.made: dict[str, dict[str, Any]] = {}
        self.front: dict[str, str] = {}

    def send(self, topic: str, value: bytes) -> None:
        self.bus.producer().send([Outgoing(topic, "en", value, 0)])

    def publish(self, name: str, event: str, publisher: str, version: int = 1, title: str | None = None) -> None:
        known = self.made.setdefault(name, {"event": event, "publisher": publisher, "at": self.clock.value})
        made = article(name, version=version, title=title, **known)
        self.versions[name] = version
        self.sent.append(made.encode())
        self.send(ARTICLES.name, self.sent[-1])

    def log(self) -> list[StoryChange]:
        found = [StoryChange.decode(record.value) for record in self.bus.records(STORY_CHANGES.name)]
        return [change for change in found if change is not None]

    def tenure(self, bars: Policy = FAIR, check: Callable[[], None] = lambda: None) -> StoryBook:
        """Serve what waits, then repair and expire; the book as the tenure left it."""
        stop, turns, kept = threading.Event(), 0, []

        def beat(partition: int, book: StoryBook) -> None:
            nonlocal turns
            turns += 1
            kept[:] = [book]
            self.clock.value += EXPIRE_EVERY
            if turns == 3:
                stop.set()

        Tenures(
            self.bus,
            self.clock,
            0,
            minds=mind_of(bars),
            repair_interval=0.0,
            beat=beat,
            snapshot_every=3,
            front=lambda: self.front,
        ).serve(check, stop)
        return kept[0]

    @initialize(bars=st.sampled_from([LENIENT, APART]))
    def begins(self, bars):
        """Two events in one story, or in stories of their own."""
        for number in range(8):
            self.publish(f"n{number}", EVENTS[number % 2], f"pub-{number}")
        self.tenure(bars)
        self.show()
        self.clock.value += REST

    @rule(event=st.sampled_from(EVENTS), publisher=st.integers(0, 6), other=st.booleans(), count=st.integers(1, 4))
    def publishes(self, event, publisher, other, count):
        """Some under another headline, so that one event may begin as two stories."""
        for number in range(count):
            name = f"n{len(self.made)}"
            self.publish(name, event, f"pub-{publisher + number}", title=f"Told otherwise {name}" if other else None)

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def repeats(self, data):
        self.send(ARTICLES.name, data.draw(st.sampled_from(self.sent)))

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def corrects(self, data):
        name = data.draw(st.sampled_from(sorted(self.made)))
        self.publish(
            name,
            self.made[name]["event"],
            self.made[name]["publisher"],
            version=self.versions[name] + 1,
            title=f"Corrected {name}",
        )

    @precondition(lambda self: self.made)
    @rule(data=st.data(), kind=st.sampled_from(["merge", "split"]), twice=st.booleans(), reported=st.booleans())
    def proposes(self, data, kind, twice, reported):
        """Ids may be dead, merged, repeated or never have been; groups may name anybody's articles."""
        known = sorted({change.story_id for change in self.log()})
        ids = st.sampled_from([*known, "never-was"])
        stories = data.draw(st.lists(ids, min_size=1, max_size=3))
        articles = sorted(rebuild(self.bus, 0).story_of)
        groups = data.draw(st.lists(st.lists(st.sampled_from([*articles, "nobody"]), max_size=6), max_size=2))
        made = StoryProposal(proposal_id="p", language="en", kind=kind, stories=stories, groups=groups, at=NOW)
        made = made.model_copy(update={"evidence": {"reports": 3.0} if reported else {}})
        for _ in range(1 + twice):
            self.send(STORY_PROPOSALS.name, made.encode())

    @rule(pages=st.sampled_from([True, True, False]))
    def pages_show_all_or_nothing(self, pages):
        self.front = {}
        if pages:
            self.show()

    def show(self):
        stories = rebuild(self.bus, 0).stories
        self.front = {key: next(iter(story.members)) for key, story in stories.items()}

    @rule(data=st.data(), kinds=st.lists(st.sampled_from(["accepted", "rejected"]), min_size=1, max_size=2))
    def somebody_decides(self, data, kinds):
        """Also a second time, and otherwise."""
        held = [event for event in self.reviews() if event.kind == "held"]
        if held:
            event = data.draw(st.sampled_from(held))
            for kind in kinds:
                self.send(STORY_REVIEWS.name, event.model_copy(update={"kind": kind}).encode())

    @invariant()
    def a_pair_is_held_once_and_what_was_rejected_first_never_merges(self):
        reviews = self.reviews()
        held = [event.review_id for event in reviews if event.kind == "held"]
        assert len(set(held)) == len(held)
        first: dict[str, StoryReview] = {}
        for event in reviews:
            if event.kind != "held":
                first.setdefault(event.review_id, event)
        done = [change.evidence.get("review") for change in self.log() if change.kind == "merge"]
        carried = [name for name in done if name is not None]
        assert len(set(carried)) == len(carried)
        assert all(first[name].kind == "accepted" for name in carried)

    def reviews(self) -> list[StoryReview]:
        found = [StoryReview.decode(record.value) for record in self.bus.records(STORY_REVIEWS.name)]
        return [event for event in found if event is not None]

    @rule(bars=st.sampled_from([STRICT, FAIR, LENIENT]), minutes=st.sampled_from([0, 31, 31, 60 * 49]))
    def serves(self, bars, minutes):
        self.clock.value += minutes * 60.0
        lived = self.tenure(bars)
        replayed = StoryBook().replay(from_event(change) for change in self.log())
        assert rows(lived) == rows(replayed), "the writer remembers something else than the log says"
        assert rows(rebuild(self.bus, 0)) == rows(replayed), "a snapshot and the log after it say something else"

    @rule()
    def transaction_aborts(self):
        self.bus.abort_next, before = 1, len(self.log())
        try:
            self.tenure()
        except ServiceUnavailable:
            assert len(self.log()) == before
        finally:
            self.bus.abort_next = 0

    @rule()
    def wakes_as_a_zombie(self):
        """It stalls between deciding and committing; the standby serves meanwhile."""
        length = []

        def stall() -> None:
            if not length:
                self.tenure()
                length.append(len(self.log()))

        try:
            self.tenure(check=stall)
        except Fenced:
            assert length == [len(self.log())], "a fenced writer got something into the log"

    @invariant()
    def the_log_has_no_gap_and_no_fork(self):
        made = self.log()
        assert [change.sequence for change in made] == list(range(1, len(made) + 1))
        assert len({change.change_id for change in made}) == len(made)
        minted = Counter(change.story_id for change in made if change.kind in ("create", "split"))
        assert set(minted.values()) <= {1}, "an id was used twice"

    @invariant()
    def each_article_is_assigned_once(self):
        joined = Counter(c.article.article_id for c in self.log() if c.article and c.kind in ("create", "assign"))
        assert set(joined.values()) <= {1}, joined

    @invariant()
    def the_book_keeps_its_laws(self):
        book, closed, minted, into = StoryBook(), set(), set(), {}
        repairs: dict[str, set[float]] = defaultdict(set)
        for event in self.log():
            touched = book.apply(from_event(event))
            closed |= {story.story_id for story in touched if story.closed}
            into |= {story.story_id: story.alias_of for story in touched if story.alias_of is not None}
            minted.add(event.story_id)
            if event.kind in ("move", "split", "merge") and "review" not in event.evidence:
                for story in touched:
                    repairs[story.story_id].add(event.at)
        for story in book.stories.values():
            assert story.members, "an empty story"
            assert (story.sources, story.coverage) == story.recount()
        for alias, target in book.aliases.items():
            assert alias not in book.stories
            assert target in book.stories
        held = sorted(name for story in book.stories.values() for name in story.members)
        assert held == sorted(book.story_of)
        for story_id in minted:
            target, seen = story_id, set()
            while target in into and target not in seen:  # merges of many days are several hops in the log
                seen.add(target)
                target = into[target]
            assert target in book.stories or target in closed, "an id that leads nowhere"
        for times in repairs.values():
            ordered = sorted(times)
            assert all(b - a >= REST for a, b in itertools.pairwise(ordered)), "no rest"


Writers.TestCase.settings = settings(max_examples=30, stateful_step_count=16, deadline=None)


@pytest.mark.usefixtures("_quick")
class TestWriters(Writers.TestCase):
    """See `Writers`."""

    @pytest.fixture(scope="class")
    @classmethod
    def _quick(cls):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("streaming.cluster.writer.POLL", 0.002)
            patch.setattr("streaming.cluster.writer.REST", 0.0)
            yield
