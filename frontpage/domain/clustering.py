"""Online clustering: which story an article joins, decided by one writer per language, one article at a time.

`Clusterer` is the writer's mind: it holds the indexes over an open `StoryBook`, decides, applies its own decisions to
the book and returns them as changes. It reads no clock and mints ids from its input, so the same inputs give the same
changes. Persistence, leases and transactions belong to streaming/cluster; the repair rules are in repair.py.

An article is compared with members of candidate stories, not only with their centroids: centroids drift in running
affairs, and the nearest single member chains. What members and the story as a whole say is one log-odds (joining.py),
above a bar per language that was chosen for precision on a mixed stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from frontpage.domain import ids
from frontpage.domain.article import ArticleSignals
from frontpage.domain.copies import CopyModel, sure
from frontpage.domain.index import StoryIndex
from frontpage.domain.joining import CLIP, StoryScorer, story_rows
from frontpage.domain.languages import primary_subtag
from frontpage.domain.recluster import Proposal
from frontpage.domain.reviews import Review, Reviews
from frontpage.domain.similarity import FEATURES, PairScorer, Prepared
from frontpage.domain.story import Change, ChangeKind, Evidence, Story, StoryBook
from frontpage.domain.terms import TermWeights, distinct

#: (topic, partition, offset) of the input record that a decision answers: makes change ids deterministic.
Source = tuple[str, int, int]

#: Design: the ten nearest active centroids; five more by rare words, for texts whose vectors say little.
NEAREST, BY_WORDS = 10, 5
#: A copy must not look like another event (a template with other names loses 20).
COPY_FLOOR: Final = -4.0
#: Members of a story that an article is compared with.
SAMPLE: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """What one language decides with. Bars are log-odds of `stories`; times are seconds; order: merge bar > join bar.

    window: a story without a new article for so long closes. recent: repair looks at stories updated within it.
    rest: a story is repaired at most once in it. sources: publishers that each half of a split needs.
    """

    scorer: PairScorer
    stories: StoryScorer
    copies: CopyModel
    join: float
    merge: float
    part: float
    window: float = 48 * 3_600.0
    recent: float = 6 * 3_600.0
    rest: float = 1_800.0
    sources: int = 3


#: Makes the policy of a primary language subtag; called once a language, so learning weights are its own.
Policies = Callable[[str], Policy]


class Clusterer:
    """Decides for one partition. Every returned change has already been applied to `book`.

    When the transaction that carries the changes is aborted, the book is ahead of the log: make a new book from the
    log and a new clusterer on it.
    """

    def __init__(self, policies: Policies, book: StoryBook, *, partition: int = 0) -> None:
        self.book = book
        self.partition = partition
        self.reviews = Reviews()
        self._policies = policies
        self._policy: dict[str, Policy] = {}
        self._index: dict[str, StoryIndex] = {}
        for story in book.stories.values():
            first = next(iter(story.members.values()), None)
            if first is not None:
                self._observe(first.article, story.created_at)
            self.refresh(story)

    def policy(self, language: str) -> Policy:
        """The policy of a language, made on first use."""
        language = primary_subtag(language)
        if language not in self._policy:
            self._policy[language] = self._policies(language)
        return self._policy[language]

    @property
    def policies_made(self) -> list[str]:
        """Languages whose policy has been made, in order."""
        return sorted(self._policy)

    def index(self, language: str) -> StoryIndex:
        """The index of a language, made on first use."""
        return self._index.setdefault(primary_subtag(language), StoryIndex())

    @property
    def languages(self) -> list[str]:
        """Languages with an index, in order."""
        return sorted(self._index)

    def decide(self, article: ArticleSignals, now: float, source: Source, card: Any = None) -> list[Change]:
        """create, assign or update for one article; [] when this version is already in the book."""
        held = self.book.story_of_article(article.article_id)
        if held is not None:
            return self._update(held, article, now, source, card)
        policy, index = self.policy(article.language), self.index(article.language)
        prepared = policy.scorer.prepare(article)
        story_id, copy_of, score, evidence = self._choose(prepared, policy, index)
        if policy.scorer.weights.version:
            evidence = {**evidence, "weights": policy.scorer.weights.version}
        if story_id is None:
            story_id = ids.story_id(int(now * 1000), self.partition, self.book.sequence + 1)
            self._observe(article, now)
            kind: ChangeKind = "create"
        else:
            kind = "assign"
        change = self.change(
            kind, story_id, article.language, now, source=source, ordinal=0,
            article=article, card=card, copy_of=copy_of, score=score, evidence=evidence,
        )  # fmt: skip
        self.book.apply(change)
        index.add(story_id, prepared, original=copy_of is None)
        return [change]

    def repair(self, now: float, source: Source) -> list[Change]:
        """Merges, splits and moves among recently updated stories; at most one repair per story in `rest`."""
        from frontpage.domain.repair import repair

        return repair(self, now, source)

    def consider(self, proposal: Proposal, now: float, source: Source) -> list[Change]:
        """A batch proposal, checked against the stories as they are now; [] when it no longer fits."""
        from frontpage.domain.repair import consider

        return consider(self, proposal, now, source)

    def carry_out(self, review: Review, now: float, source: Source) -> list[Change]:
        """The merge that a person accepted; [] when its stories are one already or one has left the window."""
        from frontpage.domain.repair import carry_out

        return carry_out(self, review, now, source)

    def expire(self, now: float, source: Source) -> list[Change]:
        """Close stories without a new article for the window."""
        changes: list[Change] = []
        for story in list(self.book.stories.values()):
            if now - story.updated_at > self.policy(story.language).window:
                change = self.change("close", story.story_id, story.language, now, source=source, ordinal=len(changes))
                self.apply(change)
                changes.append(change)
        return changes

    def change(
        self, kind: ChangeKind, story_id: str, language: str, now: float, *, source: Source, ordinal: int, **fields: Any
    ) -> Change:
        """The next change in sequence; not yet applied."""
        return Change(
            change_id=ids.change_id(*source, ordinal),
            sequence=self.book.sequence + 1,
            language=language,
            kind=kind,
            story_id=story_id,
            at=now,
            **fields,
        )

    def apply(self, change: Change) -> None:
        """Apply a change to the book and bring the index up to date with the stories it touched."""
        for story in self.book.apply(change):
            self.refresh(story)

    def refresh(self, story: Story) -> None:
        """Rebuild one story's entries in the index from its members."""
        index, scorer = self.index(story.language), self.policy(story.language).scorer
        index.remove(story.story_id)
        if story.closed:
            index.forget(story.members)
        if story.closed or story.alias_of is not None:
            return
        for member in story.members.values():
            prepared = index.articles.get(member.article.article_id)
            if prepared is None or prepared.article is not member.article:
                prepared = scorer.prepare(member.article)
            index.add(story.story_id, prepared, original=member.copy_of is None)

    def adopt(self, language: str, weights: TermWeights) -> None:
        """Weigh words by newly published `weights` from now on; stories after them are counted anew.

        Articles keep the weights that they were prepared with, as they do while counts grow. No decision of the past
        changes: followers apply changes (ADR 3), and each decision names the version it was made with.
        """
        policy = self.policy(language)
        policy.scorer.weights = weights
        for story in self.book.stories.values():
            if story.created_at > weights.until and primary_subtag(story.language) == primary_subtag(language):
                first = next(iter(story.members.values()), None)
                if first is not None:
                    self._observe(first.article, story.created_at)

    def _observe(self, article: ArticleSignals, began: float) -> None:
        """Count the words of a story's first article: one vote a story, so a burst does not make its words common."""
        weights = self.policy(article.language).scorer.weights
        if began > weights.until:  # the batch layer has counted the stories before
            weights.observe(distinct([article.head, article.pairs, article.terms]))

    def _update(self, held: Story, article: ArticleSignals, now: float, source: Source, card: Any) -> list[Change]:
        if article.version <= held.members[article.article_id].article.version:
            return []
        change = self.change(
            "update", held.story_id, held.language, now, source=source, ordinal=0, article=article, card=card
        )
        self.apply(change)
        return [change]

    def _choose(
        self, prepared: Prepared, policy: Policy, index: StoryIndex
    ) -> tuple[str | None, str | None, float | None, Evidence]:
        """`(story or None, original of a copy or None, score, evidence)`."""
        for other in index.alike(prepared):
            if not self.book.story_of.get(other.article.article_id) or not sure(prepared.article, other.article):
                continue
            if not policy.scorer.told_apart(prepared, other):
                evidence: Evidence = {"why": "same text", "nearest": other.article.article_id}
                return self.book.story_of[other.article.article_id], self._root(other), CLIP, evidence
        candidates = index.nearest(prepared.article.vector, NEAREST)
        candidates += [story for story in index.by_words(prepared, BY_WORDS) if story not in candidates]
        members = [(story_id, member) for story_id in candidates for member in index.open[story_id].sample(SAMPLE)]
        if not members:
            return None, None, None, {}
        others = [member for _, member in members]
        table = policy.scorer.features(prepared, others)
        plain = policy.scorer.plain(table)
        logits = np.clip(policy.scorer.judge(prepared, others, table, plain), -CLIP, CLIP)
        copies = policy.copies.logits(prepared, others, table)
        likest = int(np.argmax(copies))
        if copies[likest] > policy.copies.threshold and logits[likest] > COPY_FLOOR:
            story_id, other = members[likest]
            return story_id, self._root(other), float(logits[likest]), _evidence("copy", other, table[likest])
        rows: dict[str, list[int]] = {}
        for row, (story_id, _) in enumerate(members):
            rows.setdefault(story_id, []).append(row)
        samples = [[others[row] for row in found] for found in rows.values()]
        stories = [index.open[key] for key in rows]
        fits = policy.stories.logits(story_rows(prepared, stories, samples, logits, plain))
        at = int(np.argmax(fits))
        best, score = list(rows)[at], float(fits[at])
        if score <= policy.join:
            return None, None, score, {"why": "nothing near enough", "nearest_story": best}
        nearest = max(rows[best], key=lambda row: float(logits[row]))
        return best, None, score, _evidence("same event", others[nearest], table[nearest])

    def _root(self, other: Prepared) -> str:
        """The original that a copy of `other` is credited to: never itself a copy."""
        article_id = other.article.article_id
        story = self.book.story_of_article(article_id)
        if story is None:
            return article_id
        return story.members[article_id].copy_of or article_id


def _evidence(why: str, nearest: Prepared, row: Sequence[float] | Any) -> Mapping[str, float | str | list[str]]:
    named = {name: round(float(row[at]), 3) for at, name in enumerate(FEATURES) if row[at]}
    return {"why": why, "nearest": nearest.article.article_id, **named}
