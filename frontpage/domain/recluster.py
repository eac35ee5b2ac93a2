"""The 48-hour re-clustering as pure functions: Spark calls them by group, `frontpage cluster --repair` at once.

1. `block_keys`: an article's blocking keys; articles that share one are candidates (LSH, rare words, time blocks).
2. `edges`: scored candidate pairs inside a block, with the same scorer as online.
3. `components`, then `cut`: groups by average link inside each connected component; a pair without an edge counts as
   unlike, so a chain of neighbours does not make one story.
4. `propose`: groups mapped to existing stories by largest overlap, and what differs as merges and splits.

Nothing here changes a story: proposals go to the language's writer (`Clusterer.consider`).
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from frontpage.domain.article import ArticleSignals
from frontpage.domain.fingerprint import MIN_WORDS, minhash_bands
from frontpage.domain.ids import digest
from frontpage.domain.similarity import PairScorer, Prepared
from frontpage.domain.story import Evidence
from frontpage.domain.terms import Floats

Edge = tuple[str, str, float]

#: Log-odds of a pair that was no candidate.
UNLIKE: Final = -4.0
#: Kinds of articles that tell of several events: each joins one story or none, and never makes two into one (design).
SPANNING: Final = frozenset({"live"})
_DAY: Final = 86_400.0
_PLANES, _BITS, _WORD_KEYS = 16, 10, 6


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change the batch layer would make.

    merge: `stories` become one. split: `groups` of article ids leave `stories[0]`, each for a new story, or, when
    `stories` has a second id, for that story. A split whose evidence is `reports` of readers says only that its
    articles are of another event: each goes where it fits better, if anywhere.
    """

    proposal_id: str
    language: str
    kind: Literal["merge", "split"]
    stories: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    evidence: Evidence = field(default_factory=dict)
    at: float = 0.0


def block_keys(prepared: Prepared) -> list[str]:
    """Keys such that articles of one event very likely share one; each key also names its two-day block of time.

    16 bundles of 10 sign bits of the vector along fixed axes, the 6 rarest words of title and lead, MinHash bands.
    An article belongs to two overlapping blocks of two days, so neighbours across midnight still meet.
    """
    article = prepared.article
    keys = [f"v{bundle}:{bits}" for bundle, bits in enumerate(_signs(article.vector))]
    order = np.lexsort((article.head, -prepared.head_idf))[:_WORD_KEYS]
    keys += [f"w:{article.head[at]}" for at in order]
    if article.words >= MIN_WORDS:
        keys += [f"m:{band.hex()}" for band in minhash_bands(article.minhash)]
    if article.at is None:
        return [f"{key}:-" for key in keys]
    day = int(article.at // _DAY)
    return [f"{key}:{block}" for key in keys for block in (day // 2 * 2, (day + 1) // 2 * 2 - 1)]


def _signs(vector: Floats) -> list[int]:
    if not len(vector):
        return []
    # Sums over fixed, interleaved groups of components stand in for random planes: no seed, no matrix to ship.
    size = _PLANES * _BITS
    mixed = np.zeros(size, dtype=np.float32)
    positions = np.arange(len(vector))
    for turn, step in enumerate((7, 11, 13)):
        np.add.at(mixed, (positions * step + turn) % size, vector * (1 - 2 * ((positions // (turn + 2)) % 2)))
    bits = (mixed > 0).reshape(_PLANES, _BITS)
    return [int(value) for value in bits @ (1 << np.arange(_BITS))]


def edges(block: Sequence[Prepared], scorer: PairScorer, floor: float) -> list[Edge]:
    """Pairs of a block with log-odds above `floor`: `(smaller id, larger id, log-odds)`, each pair once."""
    found: list[Edge] = []
    ordered = sorted(block, key=lambda prepared: prepared.article.article_id)
    for at in range(1, len(ordered)):
        one = ordered[at]
        for other, value in zip(ordered[:at], scorer.logits(one, ordered[:at]).tolist(), strict=True):
            if value > floor:
                found.append((other.article.article_id, one.article.article_id, value))
    return found


def components(nodes: Iterable[str], links: Iterable[Edge], floor: float = 0.0) -> list[list[str]]:
    """Connected components over edges above `floor`, each sorted, ordered by first id."""
    parent = {node: node for node in nodes}

    def find(node: str) -> str:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for left, right, value in links:
        if value > floor and left in parent and right in parent:
            a, b = sorted((find(left), find(right)))
            parent[b] = a
    groups: dict[str, list[str]] = defaultdict(list)
    for node in sorted(parent):
        groups[find(node)].append(node)
    return [groups[root] for root in sorted(groups)]


def cut(
    nodes: Sequence[str], links: Iterable[Edge], bar: float, clip: float = 8.0, *, loose: Container[str] = ()
) -> list[list[str]]:
    """Average-link groups: the two groups with the highest mean log-odds join while it is above `bar`.

    Deterministic: ties go to the smaller ids. A pair without an edge counts `UNLIKE`. Nodes that are `loose` (live
    blogs) bring no groups together: each joins the one group that it fits best afterwards, or stays alone.
    """
    if hanging := sorted({node for node in nodes if node in loose}):
        links = list(links)
        firm = cut([node for node in nodes if node not in loose], links, bar, clip)
        return sorted(_hang(hanging, firm, links, bar, clip))
    groups = {at: [node] for at, node in enumerate(sorted(set(nodes)))}
    place = {group[0]: at for at, group in groups.items()}
    sums: dict[int, dict[int, float]] = {at: {} for at in groups}
    for left, right, value in links:
        if left in place and right in place and left != right:
            a, b = place[left], place[right]
            sums[a][b] = sums[b][a] = max(-clip, min(clip, value)) - UNLIKE
    heap = [(-(value + UNLIKE), a, b) for a, near in sums.items() for b, value in near.items() if a < b]
    heapq.heapify(heap)
    while heap and -heap[0][0] > bar:
        negative, a, b = heapq.heappop(heap)
        if a not in groups or b not in groups or _mean(sums, groups, a, b) != -negative:
            continue
        groups[a] += groups.pop(b)
        for other, value in sums.pop(b).items():
            del sums[other][b]
            if other != a:
                sums[a][other] = sums[other][a] = sums[a].get(other, 0.0) + value
        for other in sums[a]:
            low, high = min(a, other), max(a, other)
            heapq.heappush(heap, (-_mean(sums, groups, low, high), low, high))
    return sorted(sorted(group) for group in groups.values())


def _hang(
    loose: Sequence[str], groups: Sequence[list[str]], links: Sequence[Edge], bar: float, clip: float
) -> list[list[str]]:
    """`groups` with each of `loose` in the one that it fits best, if that is above `bar`."""
    place = {node: at for at, group in enumerate(groups) for node in group}
    made, alone = [list(group) for group in groups], []
    for node in loose:
        sums: Counter[int] = Counter()
        for left, right, value in links:
            other = right if left == node else left if right == node else None
            if other in place:
                sums[place[other]] += max(-clip, min(clip, value)) - UNLIKE  # type: ignore[assignment]
        means = {at: total / len(groups[at]) + UNLIKE for at, total in sums.items()}
        best = max(means, key=lambda at: (means[at], -at), default=None)
        if best is None or means[best] <= bar:
            alone.append([node])
        else:
            made[best] = sorted([*made[best], node])
    return [*made, *alone]


def _mean(sums: Mapping[int, Mapping[int, float]], groups: Mapping[int, list[str]], a: int, b: int) -> float:
    return sums[a][b] / (len(groups[a]) * len(groups[b])) + UNLIKE


def propose(groups: Iterable[Sequence[str]], story_of: Mapping[str, str], language: str, at: float) -> list[Proposal]:
    """Merges and splits that would turn the stories in `story_of` into `groups`; articles of no story are ignored.

    Each group takes the existing story it overlaps most (ties: the older id); a story taken by several groups goes to
    the one with the largest overlap. Whole stories inside a group merge; parts of stories move to the group's story,
    or to a new one when the group has none.
    """
    assigned = [[article for article in group if article in story_of] for group in groups]
    sizes = Counter(story_of.values())
    claims: list[tuple[int, str, int]] = []
    overlap = []
    for number, group in enumerate(assigned):
        counted = Counter(story_of[article] for article in group)
        overlap.append(counted)
        claims += [(-count, story, number) for story, count in counted.items()]
    home: dict[int, str] = {}
    taken: set[str] = set()
    for _, story, number in sorted(claims):
        if number not in home and story not in taken:
            home[number] = story
            taken.add(story)
    proposals: list[Proposal] = []
    for number, group in enumerate(assigned):
        target = home.get(number)
        for story, count in sorted(overlap[number].items()):
            if story == target:
                continue
            moved = tuple(sorted(article for article in group if story_of[article] == story))
            if target is not None and count == sizes[story]:
                stories, kind = tuple(sorted((target, story))), "merge"
            else:
                stories, kind = (story,) if target is None else (story, target), "split"
            key = digest(f"{kind} {stories} {moved} {at}")
            parts = (moved,) if kind == "split" else ()
            evidence: Evidence = {"overlap": float(count), "of": float(sizes[story]), "group": float(len(group))}
            proposals.append(
                Proposal(key, language, "merge" if kind == "merge" else "split", stories, parts, evidence, at)
            )
    return proposals


def reported(story: str, article: str, reports: int, language: str, at: float) -> Proposal:
    """What so many readers' "not about this story" ask for."""
    key = digest(f"reported {story} {article} {reports}")
    return Proposal(key, language, "split", (story,), ((article,),), {"reports": float(reports)}, at)


def signals_by_id(articles: Iterable[ArticleSignals]) -> dict[str, ArticleSignals]:
    """Articles by id, the highest version of each."""
    latest: dict[str, ArticleSignals] = {}
    for article in articles:
        held = latest.get(article.article_id)
        if held is None or held.version < article.version:
            latest[article.article_id] = article
    return latest
