"""Fast repair and the judging of proposals: what online greed got wrong, put right without breaking story ids.

Works inside the writer, on the stories as they are now. A merge keeps the older id and makes the other an alias; a
split keeps the id with the half that has the representative of a front page, else with the larger, each half cohesive
and of `Policy.sources` publishers or more; a single member that fits another story better moves there. Live blogs join
a story and bring none together. A story is touched at most once in `Policy.rest`. Merges of top stories that are not
sure are held for a person (reviews.py). Not for finding proposals over two days (recluster.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from frontpage.domain import ids
from frontpage.domain.clustering import BY_WORDS, NEAREST, SAMPLE, Policy, Source
from frontpage.domain.index import StoryIndex
from frontpage.domain.joining import CLIP, story_rows
from frontpage.domain.recluster import SPANNING, Proposal, cut
from frontpage.domain.reviews import Review
from frontpage.domain.similarity import PairScorer, Prepared
from frontpage.domain.story import Change, ChangeKind, Evidence, Story
from frontpage.domain.terms import Floats

if TYPE_CHECKING:
    from frontpage.domain.clustering import Clusterer

#: How far a member must fit another story better than its own before it moves.
_MARGIN: Final = 1.0
#: Members of each story that are held against the other before a merge, and those that look for a candidate.
_EACH, _FEW = 6, 3
#: Other stories beside which a fit is seen.
_BESIDE: Final = 6
#: Members looked at when a story is tested for two halves.
_SPLIT_SAMPLE: Final = 40


def repair(clusterer: Clusterer, now: float, source: Source) -> list[Change]:
    """Merges, then moves and splits, over stories updated within `Policy.recent`."""
    work = _Pass(clusterer, now, source)
    for language in clusterer.languages:
        policy = clusterer.policy(language)
        recent = [
            story
            for story in clusterer.book.stories.values()
            if story.language == language and now - story.updated_at <= policy.recent
        ]
        recent.sort(key=lambda story: story.story_id)
        for act in (work.merge, work.move_or_split):
            for story in recent:
                if clusterer.book.stories.get(story.story_id) is story and work.rested(story, policy):
                    act(story, policy)
    return work.changes


def consider(clusterer: Clusterer, proposal: Proposal, now: float, source: Source) -> list[Change]:
    """Apply a proposal if it still fits: stories open and rested, articles still there, scores above the bars."""
    policy, book = clusterer.policy(proposal.language), clusterer.book
    work = _Pass(clusterer, now, source)
    named = [book.stories.get(book.resolve(story_id)) for story_id in proposal.stories]
    stories = [story for story in named if story is not None and work.rested(story, policy)]
    if len(stories) != len(proposal.stories) or len({story.story_id for story in stories}) != len(stories):
        return []
    if proposal.kind == "merge":
        survivor = stories[0]
        for other in stories[1:]:
            score = work.likeness(survivor, other, policy)
            if score > policy.join and work.allowed(survivor, other, score, policy.join):
                survivor, absorbed = _older(survivor, other)
                work.emit("merge", survivor, absorbed=(absorbed.story_id,))
        return work.changes
    for group in proposal.groups:
        if proposal.evidence.get("reports"):
            work.reported(stories[0], group, policy)
            continue
        work.leave(stories[0], stories[1] if len(stories) > 1 else None, group, policy)
    return work.changes


def carry_out(clusterer: Clusterer, review: Review, now: float, source: Source) -> list[Change]:
    """Merge the stories of a review that was accepted, as they are now; a person's word does not wait for `rest`."""
    book, work = clusterer.book, _Pass(clusterer, now, source)
    left, right = (book.stories.get(book.resolve(story_id)) for story_id in review.stories)
    if left is not None and right is not None and left is not right:
        survivor, absorbed = _older(left, right)
        evidence: Evidence = {"why": "accepted by a person", "review": review.review_id}
        work.emit("merge", survivor, absorbed=(absorbed.story_id,), score=review.score, evidence=evidence)
    return work.changes


def fits(policy: Policy, index: StoryIndex, one: Prepared, stories: Sequence[str]) -> Floats:
    """Log-odds that `one` belongs to each of `stories`, its own part in them left out: float32 [n]."""
    samples = [[m for m in bearing(index.open[key].sample(SAMPLE + 1)) if m is not one][:SAMPLE] for key in stories]
    values = np.full(len(stories), -CLIP, dtype=np.float32)
    held = [at for at, sample in enumerate(samples) if sample]
    if held:
        members = [member for at in held for member in samples[at]]
        table = policy.scorer.features(one, members)
        plain = policy.scorer.plain(table)
        log_odds = policy.scorer.judge(one, members, table, plain)
        open_stories, beside = [index.open[stories[at]] for at in held], [samples[at] for at in held]
        values[held] = policy.stories.logits(story_rows(one, open_stories, beside, log_odds, plain))
    return values


def bearing(members: Sequence[Prepared]) -> list[Prepared]:
    """Those that speak for a story; live blogs, which tell of several events, only where there is nothing else."""
    return [member for member in members if member.article.kind not in SPANNING] or list(members)


def fit(policy: Policy, index: StoryIndex, members: Sequence[Prepared], story_id: str, own: str) -> float:
    """Mean log-odds that `members` belong to a story, seen beside the other stories near each but their `own`."""
    if not members:
        return -CLIP
    values = []
    for one in members:
        near = [key for key in index.nearest(one.article.vector, _BESIDE) if key not in (story_id, own)]
        values.append(float(fits(policy, index, one, [story_id, *near])[0]))
    return float(np.clip(values, -CLIP, CLIP).mean())


def average(scorer: PairScorer, left: Sequence[Prepared], right: Sequence[Prepared]) -> float:
    """Mean clipped log-odds over all pairs across two groups; -CLIP for an empty group."""
    if not left or not right:
        return -CLIP
    return float(np.mean([np.clip(scorer.logits(one, right), -CLIP, CLIP).mean() for one in left]))


class _Pass:
    """One pass over a clusterer's stories: applies changes as it goes and numbers them from its source."""

    def __init__(self, clusterer: Clusterer, now: float, source: Source) -> None:
        self.clusterer = clusterer
        self.now = now
        self.source = source
        self.changes: list[Change] = []

    def rested(self, story: Story, policy: Policy) -> bool:
        return story.repaired_at is None or self.now - story.repaired_at >= policy.rest

    def emit(self, kind: ChangeKind, story: Story | str, **fields: Any) -> None:
        story_id, language = (story.story_id, story.language) if isinstance(story, Story) else (story, "")
        language = fields.pop("language", language)
        change = self.clusterer.change(
            kind, story_id, language, self.now, source=self.source, ordinal=len(self.changes), **fields
        )
        self.clusterer.apply(change)
        self.changes.append(change)

    def allowed(self, left: Story, right: Story, score: float, bar: float) -> bool:
        """False when the merge is held for a person, or was rejected by one."""
        pair = (left.story_id, right.story_id)
        return self.clusterer.reviews.allows(pair, left.language, score, bar, self.now)

    def likeness(self, left: Story, right: Story, policy: Policy) -> float:
        """How well each story's members fit the other, the mean of the two directions."""
        index = self.clusterer.index(left.language)
        a, b = index.open[left.story_id], index.open[right.story_id]
        return 0.5 * (
            fit(policy, index, bearing(a.sample(_EACH)), b.story_id, a.story_id)
            + fit(policy, index, bearing(b.sample(_EACH)), a.story_id, b.story_id)
        )

    def merge(self, story: Story, policy: Policy) -> None:
        """Join the story with the one most like it, if that is above the merge bar."""
        index = self.clusterer.index(story.language)
        centroid = index.open[story.story_id].centroid
        near = index.nearest(centroid, NEAREST) if centroid is not None else []
        for member in self._sample(story)[:1]:
            near += [other for other in index.by_words(member, BY_WORDS) if other not in near]
        near = [other for other in near if self._free(other, story, policy)]
        if not near:
            return
        some = bearing(index.open[story.story_id].sample(_FEW))
        seen = np.mean([fits(policy, index, one, near) for one in some], axis=0)
        best = self.clusterer.book.stories[near[int(np.argmax(seen))]]
        if seen.max() <= policy.join:
            return
        score = self.likeness(story, best, policy)
        if score > policy.merge and self.allowed(story, best, score, policy.merge):
            survivor, absorbed = _older(story, best)
            self.emit("merge", survivor, absorbed=(absorbed.story_id,), score=score)

    def move_or_split(self, story: Story, policy: Policy) -> None:
        """Move the worst member to a story that it fits better, or split the story where it falls into two."""
        originals = self._prepared(story, [key for key, member in story.members.items() if member.copy_of is None])
        if len(originals) < 2:
            return
        table = _matrix(policy.scorer, originals[:_SPLIT_SAMPLE])
        count = len(table)
        worst = originals[int(np.argmin(table.sum(axis=1)))]
        own = fit(policy, self.clusterer.index(story.language), [worst], story.story_id, story.story_id)
        if own < policy.join and self._move(story, worst, own, policy):
            return
        if count < 2 * policy.sources or len(story.sources) < 2 * policy.sources:
            return
        firm = [at for at in range(count) if originals[at].article.kind not in SPANNING]
        names = {at: originals[at].article.article_id for at in firm}
        links = [(names[i], names[j], float(table[i, j])) for i in firm for j in firm if j < i]
        order = {name: at for at, name in names.items()}
        groups = cut(list(order), links, policy.part)
        groups.sort(key=lambda group: (-len(group), min(order[name] for name in group)))
        lead = self._representative(story)
        stays = next((group for group in groups if lead in group), groups[0] if groups else [])
        for group in groups:
            if group is stays:
                continue
            rest = [name for name in story.members if name not in group]
            if _publishers(story, group) >= policy.sources <= _publishers(story, rest):
                self._split(story, tuple(group))
                return

    def leave(self, origin: Story, target: Story | None, group: Sequence[str], policy: Policy) -> None:
        """The articles of `group` leave `origin` for `target`, or for a new story, if that still fits."""
        moved = tuple(article for article in group if article in origin.members)
        rest = [article for article in origin.members if article not in moved]
        if not moved or not rest:
            return
        inside, outside = self._prepared(origin, moved), self._prepared(origin, rest)
        stay = average(policy.scorer, inside[:SAMPLE], outside[:SAMPLE])
        if target is not None:
            index = self.clusterer.index(origin.language)
            there = fit(policy, index, inside[:SAMPLE], target.story_id, origin.story_id)
            if there > max(policy.join, fit(policy, index, inside[:SAMPLE], origin.story_id, origin.story_id)):
                self.emit("move", target, from_story=origin.story_id, moved=moved, score=there)
        elif stay < policy.part and _publishers(origin, moved) >= policy.sources <= _publishers(origin, rest):
            self._split(origin, tuple(rest) if self._representative(origin) in moved else moved)

    def reported(self, story: Story, group: Sequence[str], policy: Policy) -> None:
        """Readers say that these are of another event: being surer of another story than of this one is enough."""
        originals = [key for key in group if key in story.members and story.members[key].copy_of is None]
        for one in self._prepared(story, originals):
            if len(story.members) > 1:
                own = fit(policy, self.clusterer.index(story.language), [one], story.story_id, story.story_id)
                self._move(story, one, own, policy, margin=0.0)

    def _move(self, story: Story, member: Prepared, own: float, policy: Policy, margin: float = _MARGIN) -> bool:
        index = self.clusterer.index(story.language)
        near = index.nearest(member.article.vector, NEAREST)
        near = [other for other in near if self._free(other, story, policy)]
        values = fits(policy, index, member, near)
        if not near or values.max() <= max(policy.join, own + margin):
            return False
        best, score = self.clusterer.book.stories[near[int(np.argmax(values))]], float(values.max())
        article_id = member.article.article_id
        moved = (article_id, *(key for key, held in story.members.items() if held.copy_of == article_id))
        self.emit("move", best, from_story=story.story_id, moved=moved, score=score)
        return True

    def _split(self, story: Story, moved: tuple[str, ...]) -> None:
        copies = tuple(key for key, held in story.members.items() if held.copy_of in moved and key not in moved)
        book = self.clusterer.book
        new_id = ids.story_id(int(self.now * 1000), self.clusterer.partition, book.sequence + 1)
        self.emit("split", new_id, language=story.language, from_story=story.story_id, moved=moved + copies)

    def _representative(self, story: Story) -> str | None:
        """The original that stands for the story on a front page: its half keeps the id. None where it is on none."""
        shown = self.clusterer.reviews.front.get(story.story_id)
        member = story.members.get(shown) if shown is not None else None
        return None if member is None else member.copy_of or shown

    def _free(self, story_id: str, story: Story, policy: Policy) -> bool:
        other = self.clusterer.book.stories.get(story_id)
        return other is not None and other is not story and self.rested(other, policy)

    def _sample(self, story: Story) -> list[Prepared]:
        found = self.clusterer.index(story.language).open.get(story.story_id)
        return found.sample(SAMPLE) if found is not None else []

    def _prepared(self, story: Story, article_ids: Sequence[str]) -> list[Prepared]:
        articles = self.clusterer.index(story.language).articles
        return [articles[key] for key in article_ids if key in articles]


def _older(left: Story, right: Story) -> tuple[Story, Story]:
    return (left, right) if (left.created_at, left.story_id) <= (right.created_at, right.story_id) else (right, left)


def _publishers(story: Story, article_ids: Sequence[str]) -> int:
    members = (story.members[key] for key in article_ids if key in story.members)
    return len({member.article.publisher_id for member in members if member.copy_of is None})


def _matrix(scorer: PairScorer, members: Sequence[Prepared]) -> Any:
    table = np.zeros((len(members), len(members)), dtype=np.float32)
    for at in range(1, len(members)):
        table[at, :at] = np.clip(scorer.logits(members[at], members[:at]), -CLIP, CLIP)
    return table + table.T
