"""Laws of the story book: idempotent, one-hop aliases, counters equal a recount, replay rebuilds, ids never return."""

from __future__ import annotations

from fakes.stories import article
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from frontpage.domain.story import Change, StoryBook

CARDS = {number: article(f"a{number}", f"Title number {number}", publisher=f"p{number % 5}") for number in range(14)}


def snapshot(book):
    stories = {
        key: (
            [
                (name, member.copy_of, member.joined_at, member.article.version)
                for name, member in story.members.items()
            ],
            story.sources,
            story.coverage,
            story.created_at,
            story.updated_at,
            story.history,
        )
        for key, story in sorted(book.stories.items())
    }
    return stories, book.aliases, book.story_of, book.sequence


class Books(RuleBasedStateMachine):
    """Drives a book with every kind of change, sensible or not, and keeps the log."""

    def __init__(self):
        super().__init__()
        self.book = StoryBook()
        self.log = []
        self.minted = []
        self.gone = set()

    def put(self, kind, story_id, **fields):
        sequence = self.book.sequence + 1
        change = Change(f"c{sequence}", sequence, "en", kind, story_id, at=100.0 * sequence, **fields)
        before = set(self.book.stories)
        self.book.apply(change)
        self.log.append(change)
        self.gone |= before - set(self.book.stories)

    def mint(self):
        self.minted.append(f"s{len(self.minted):04}")
        return self.minted[-1]

    @rule(number=st.integers(0, 13), copy=st.booleans(), data=st.data())
    def join(self, number, copy, data):
        held = list(self.book.stories)
        card = CARDS[number]
        if card.article_id in self.book.story_of:
            return
        if held and data.draw(st.booleans()):
            story = data.draw(st.sampled_from(held))
            original = next(iter(self.book.stories[story].members))
            self.put("assign", story, article=card, copy_of=original if copy else None)
        else:
            self.put("create", self.mint(), article=card)

    @rule(data=st.data())
    def merge(self, data):
        held = sorted(self.book.stories)
        if len(held) > 1:
            two = data.draw(st.lists(st.sampled_from(held), min_size=2, max_size=3, unique=True))
            self.put("merge", two[0], absorbed=tuple(two[1:]))

    @rule(data=st.data(), fresh=st.booleans())
    def part(self, data, fresh):
        held = sorted(self.book.stories)
        if not held:
            return
        story = data.draw(st.sampled_from(held))
        moved = data.draw(st.lists(st.sampled_from(sorted(self.book.stories[story].members)), min_size=1, unique=True))
        target = self.mint() if fresh else data.draw(st.sampled_from(held))
        if target != story:
            self.put("split" if fresh else "move", target, from_story=story, moved=tuple(moved))

    @rule(data=st.data())
    def update(self, data):
        if self.book.story_of:
            name = data.draw(st.sampled_from(sorted(self.book.story_of)))
            version = article(name, f"Corrected {name}", publisher=f"p{int(name[1:]) % 5}", version=2)
            self.put("update", self.book.story_of[name], article=version)

    @rule(data=st.data())
    def close(self, data):
        if self.book.stories:
            self.put("close", data.draw(st.sampled_from(sorted(self.book.stories))))

    @rule(data=st.data())
    def repeat(self, data):
        if self.log:
            before = snapshot(self.book)
            assert self.book.apply(data.draw(st.sampled_from(self.log))) == []
            assert snapshot(self.book) == before

    @invariant()
    def aliases_are_one_hop(self):
        for alias, target in self.book.aliases.items():
            assert alias not in self.book.stories
            assert target in self.book.stories
            assert target not in self.book.aliases

    @invariant()
    def counters_equal_a_recount(self):
        for story in self.book.stories.values():
            assert (story.sources, story.coverage) == story.recount()

    @invariant()
    def each_article_is_in_one_story(self):
        held = [name for story in self.book.stories.values() for name in story.members]
        assert sorted(held) == sorted(self.book.story_of)
        assert all(name in self.book.stories[story].members for name, story in self.book.story_of.items())
        assert all(story.members for story in self.book.stories.values())

    @invariant()
    def ids_never_return(self):
        assert not self.gone & set(self.book.stories)

    @invariant()
    def replay_rebuilds_the_book(self):
        assert snapshot(StoryBook().replay(self.log)) == snapshot(self.book)


Books.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
test_books = Books.TestCase


def test_a_book_that_starts_in_the_middle_of_a_log_takes_what_it_can():
    log = [
        Change("c1", 1, "en", "create", "s1", 1.0, article=CARDS[1]),
        Change("c2", 2, "en", "create", "s2", 2.0, article=CARDS[2]),
        Change("c3", 3, "en", "assign", "s1", 3.0, article=CARDS[3]),
        Change("c4", 4, "en", "merge", "s1", 4.0, absorbed=("s2",)),
    ]
    late = StoryBook().replay(log[2:])
    assert list(late.stories["s1"].members) == ["a3"]
    assert late.resolve("s2") == "s1"
