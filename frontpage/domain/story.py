"""Stories as the sum of changes: `StoryBook` applies a language's changes in sequence and nothing else moves it.

Writer, store, ranker and batch all build their state from the same changes with this class, so they cannot disagree.
Laws (tested): applying a change twice changes nothing; an alias is one hop; counters equal a recount of the members;
replaying the changes rebuilds the same book; a story id is never used again. Not for deciding changes (clustering.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from frontpage.domain.article import ArticleSignals

ChangeKind = Literal["create", "assign", "update", "move", "merge", "split", "close"]
Evidence = Mapping[str, float | str | list[str]]
#: Seconds in one bucket of the coverage counts (design: originals per 5 minutes).
BUCKET: Final = 300.0
#: Seconds for which articles of closed stories are remembered: as long as their topic may bring them again (3 days).
MEMORY: Final = 3 * 86_400.0


@dataclass(frozen=True, slots=True)
class Change:
    """One decision of a language's writer. Fields as in `contracts.events.StoryChange`; times in seconds.

    `card` is what a reader is shown of the article; the domain carries it through without looking at it.
    """

    change_id: str
    sequence: int
    language: str
    kind: ChangeKind
    story_id: str
    at: float
    article: ArticleSignals | None = None
    card: Any = None
    copy_of: str | None = None
    from_story: str | None = None
    absorbed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    score: float | None = None
    evidence: Evidence = field(default_factory=dict)


@dataclass(slots=True)
class Member:
    """An article in a story. `copy_of` names the original article of a syndicated copy, which counts once."""

    article: ArticleSignals
    card: Any
    joined_at: float
    copy_of: str | None = None
    score: float | None = None
    evidence: Evidence = field(default_factory=dict)


@dataclass(slots=True)
class Story:
    """Members in order of joining, with counters that `recount` recomputes from them.

    sources: originals per publisher. coverage: originals per 5-minute bucket of joining time (bucket start -> count).
    """

    story_id: str
    language: str
    created_at: float
    updated_at: float
    members: dict[str, Member] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    coverage: dict[float, int] = field(default_factory=dict)
    history: list[dict[str, float | str | list[str]]] = field(default_factory=list)
    alias_of: str | None = None
    closed: bool = False
    repaired_at: float | None = None

    @property
    def originals(self) -> int:
        """Members that are not copies."""
        return sum(self.sources.values())

    def add(self, member: Member) -> None:
        """Put in or replace a member and keep the counters."""
        self.remove(member.article.article_id)
        self.members[member.article.article_id] = member
        self._count(member, 1)

    def remove(self, article_id: str) -> Member | None:
        """Take a member out and keep the counters."""
        member = self.members.pop(article_id, None)
        if member is not None:
            self._count(member, -1)
        return member

    def recount(self) -> tuple[dict[str, int], dict[float, int]]:
        """`(sources, coverage)` computed from the members alone."""
        fresh = Story(self.story_id, self.language, self.created_at, self.updated_at)
        for member in self.members.values():
            fresh._count(member, 1)
        return fresh.sources, fresh.coverage

    def _count(self, member: Member, by: int) -> None:
        if member.copy_of is not None:
            return
        _bump(self.sources, member.article.publisher_id, by)
        _bump(self.coverage, member.joined_at // BUCKET * BUCKET, by)


def _bump(counts: dict[Any, int], key: Any, by: int) -> None:
    value = counts.get(key, 0) + by
    if value:
        counts[key] = value
    else:
        counts.pop(key, None)


class StoryBook:
    """The open stories of one partition, moved only by `apply`.

    stories: open stories by id. aliases: merged id -> survivor, always one hop. story_of: article id -> story id.
    departed: article of a closed story -> when it closed, for `MEMORY`: a late repeat must not start a story anew.
    sequence: that of the last applied change, 0 before the first.
    """

    def __init__(self) -> None:
        self.stories: dict[str, Story] = {}
        self.aliases: dict[str, str] = {}
        self.story_of: dict[str, str] = {}
        self.departed: dict[str, float] = {}
        self.sequence = 0

    def resolve(self, story_id: str) -> str:
        """The surviving id of a story that may have been merged."""
        return self.aliases.get(story_id, story_id)

    def story_of_article(self, article_id: str) -> Story | None:
        """The open story that holds the article."""
        story_id = self.story_of.get(article_id)
        return self.stories.get(story_id) if story_id is not None else None

    def replay(self, changes: Iterable[Change]) -> StoryBook:
        """Apply all, in order; returns itself."""
        for change in changes:
            self.apply(change)
        return self

    def apply(self, change: Change) -> list[Story]:
        """Apply one change and return the stories it touched; [] when its sequence has been applied before.

        A touched story that was absorbed has `alias_of`, one that left the window has `closed`; both are no longer
        in `stories`. A book that starts in the middle of a log (retention) takes an `assign` to a story it does not
        know as its beginning, and ignores parts of merges and splits that it cannot know.
        """
        if change.sequence <= self.sequence:
            return []
        self.sequence = change.sequence
        match change.kind:
            case "create" | "assign" | "update":
                return self._put(change)
            case "move" | "split":
                return self._move(change)
            case "merge":
                return self._merge(change)
            case "close":
                return self._close(change)

    def _open(self, story_id: str, change: Change) -> Story:
        story_id = self.resolve(story_id)
        story = self.stories.get(story_id)
        if story is None:
            story = Story(story_id, change.language, created_at=change.at, updated_at=change.at)
            self.stories[story_id] = story
        return story

    def _put(self, change: Change) -> list[Story]:
        if change.article is None:
            return []
        article = change.article
        touched = []
        before = self.story_of_article(article.article_id)
        story = self._open(change.story_id, change)
        old = before.remove(article.article_id) if before is not None else None
        if before is not None and before is not story:
            touched.append(before)
            if not before.members:
                self._retire(before, story)
        update = change.kind == "update" and old is not None
        story.add(
            Member(
                article=article,
                card=change.card,
                joined_at=old.joined_at if update and old is not None else change.at,
                copy_of=old.copy_of if update and old is not None and change.copy_of is None else change.copy_of,
                score=change.score if change.score is not None or old is None else old.score,
                evidence=change.evidence or (old.evidence if old is not None else {}),
            )
        )
        self.story_of[article.article_id] = story.story_id
        story.updated_at = change.at
        if change.kind == "create":
            story.history.append({"kind": "create", "at": change.at, "change": change.change_id})
        return [story, *touched]

    def _move(self, change: Change) -> list[Story]:
        source = self.stories.get(self.resolve(change.from_story or ""))
        moved = change.moved or ((change.article.article_id,) if change.article is not None else ())
        target = self._open(change.story_id, change)
        touched = [target]
        for article_id in moved:
            origin = self.story_of_article(article_id)
            if origin is None or origin is target or (source is not None and origin is not source):
                continue
            member = origin.remove(article_id)
            if member is not None:
                target.add(replace(member, evidence=change.evidence or member.evidence))
                self.story_of[article_id] = target.story_id
                if origin not in touched:
                    touched.append(origin)
        for story in touched:
            self._repaired(story, change, [target.story_id, *([source.story_id] if source else [])])
            if not story.members:
                self._retire(story, target)
        return touched

    def _merge(self, change: Change) -> list[Story]:
        survivor = self._open(change.story_id, change)
        touched = [survivor]
        for absorbed_id in change.absorbed:
            if absorbed_id == survivor.story_id:
                continue
            absorbed = self.stories.get(absorbed_id)
            self._alias(absorbed_id, survivor.story_id)
            if absorbed is None:
                continue
            self._retire(absorbed, survivor)
            for article_id, member in list(absorbed.members.items()):
                survivor.add(member)
                self.story_of[article_id] = survivor.story_id
            survivor.created_at = min(survivor.created_at, absorbed.created_at)
            touched.append(absorbed)
        self._repaired(survivor, change, list(change.absorbed))
        return touched

    def _close(self, change: Change) -> list[Story]:
        story = self.stories.pop(self.resolve(change.story_id), None)
        if story is None:
            return []
        story.closed = True
        for article_id in story.members:
            self.story_of.pop(article_id, None)
            self.departed[article_id] = change.at
        while self.departed and (first := next(iter(self.departed.items())))[1] < change.at - MEMORY:
            del self.departed[first[0]]
        for alias in [alias for alias, target in self.aliases.items() if target == story.story_id]:
            del self.aliases[alias]
        return [story]

    def _alias(self, story_id: str, target: str) -> None:
        """`story_id`, and all that lead to it, lead to `target`."""
        for alias, held in self.aliases.items():
            if held == story_id:
                self.aliases[alias] = target
        self.aliases[story_id] = target

    def _retire(self, story: Story, into: Story) -> None:
        """A story that has nothing left lives on as an alias of the one that has it."""
        self.stories.pop(story.story_id, None)
        self._alias(story.story_id, into.story_id)
        story.alias_of = into.story_id

    def _repaired(self, story: Story, change: Change, others: list[str]) -> None:
        story.updated_at = story.repaired_at = change.at
        why = {"why": change.evidence["why"]} if "why" in change.evidence else {}
        story.history.append(
            {"kind": change.kind, "at": change.at, "change": change.change_id, "stories": others, **why}
        )
