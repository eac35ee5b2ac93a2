"""What the link process knows: open stories of all languages, slim, and which pairs reach the bar.

`LinkFinder` is fed with `story.changes` and with the links already announced, and says in each cycle which new links
there are. It keeps of an article what links need (marks, title, snippet, publisher), about 1 kB, and encodes only the
stories that have a partner by marks. A cycle looks at a bounded number of stories and texts; the rest waits its turn.
Not here: the rule (`frontpage/domain/links.py`), records and transactions (`links.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from frontpage.adapters.bus import Record
from frontpage.adapters.encoder import Encoder
from frontpage.adapters.loop import fault_of, place_of
from frontpage.contracts.events import StoryChange, StoryLink
from frontpage.contracts.story_codec import from_event
from frontpage.domain.links import Link, LinkIndex, LinkPolicy, Pair, centre, pair_of, representatives, side_of
from frontpage.domain.story import Change, Story, StoryBook

log = logging.getLogger(__name__)

#: Stories compared and texts encoded in one cycle: some 4 s of one core (measured: 4 ms a story that has partners).
STORIES, TEXTS = 1_000, 2_000
#: Virtual seconds after which a link that still holds is announced again, under its id: the topic keeps three days.
RENEW: Final = 2 * 86_400.0
_BATCH: Final = 64
_NO_IDS: Final = np.empty(0, dtype=np.uint32)
_NO_FLOATS: Final = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Shown:
    """What is kept of an article's card."""

    title: str
    snippet: str
    publisher_id: str

    @property
    def text(self) -> str:
        """What the encoder reads."""
        return f"{self.title}. {self.snippet}" if self.snippet else self.title


#: (article id, version) of the texts that a centre was made from.
_Key = tuple[tuple[str, int], ...]


class LinkFinder:
    """The stories of one tenure. `encoder` must be multilingual; it loads when the first pair has to be compared."""

    def __init__(self, encoder: Encoder, policy: LinkPolicy | None = None) -> None:
        self._encoder = encoder
        self.index = LinkIndex(policy)
        self._books: dict[int, StoryBook] = {}
        self._touched: dict[str, Story] = {}
        self._queue: dict[str, None] = {}
        self._centres: dict[str, tuple[_Key, npt.NDArray[np.float16]]] = {}
        self._edges: dict[Pair, float] = {}
        self._announced: dict[Pair, float] = {}

    @property
    def waiting(self) -> int:
        """Stories that no cycle has looked at since they changed."""
        return len(self._queue) + len(self._touched)

    @property
    def links(self) -> int:
        """Links announced so far."""
        return len(self._announced)

    def absorb(self, records: Iterable[Record]) -> None:
        """Apply changes; repeating them changes nothing. Unreadable ones are logged: the store dead-letters them."""
        for record in records:
            try:
                event = StoryChange.decode(record.value)
                if event is None:
                    continue
                book = self._books.setdefault(record.partition, StoryBook())
                for story in book.apply(_slim(from_event(event))):
                    self._touched[story.story_id] = story
            except Exception as error:  # noqa: BLE001 - `fault_of` raises what is not the record's fault
                log.error("%s: %s", place_of(record), fault_of(record, error))

    def announced(self, link: StoryLink) -> None:
        """A link that is on the topic, and so not to be made again."""
        pair = pair_of(link.left, link.right)
        self._announced[pair] = max(link.at, self._announced.get(pair, link.at))

    def resolve(self, story_id: str) -> str:
        """The surviving id of a story."""
        return next((b.aliases[story_id] for b in self._books.values() if story_id in b.aliases), story_id)

    def linked(self, story_id: str) -> list[str]:
        """Surviving ids of the stories linked to this one, whatever the two were called when they were linked."""
        own = self.resolve(story_id)
        pairs = [(self.resolve(a), self.resolve(b)) for a, b in self._announced]
        return sorted({b if a == own else a for a, b in pairs if own in (a, b)} - {own})

    def publishers(self, story_id: str) -> set[str]:
        """Publishers of an open story; empty when it is not open."""
        found = next((b.stories[story_id] for b in self._books.values() if story_id in b.stories), None)
        return {m.card.publisher_id for m in found.members.values()} if found is not None else set()

    def cycle(self, now: float, *, stories: int = STORIES, texts: int = TEXTS) -> list[Link]:
        """Look at stories that changed, `stories` of them and `texts` new texts at most; returns links to announce.

        They count as announced only when `announced` is told so, after their transaction.
        """
        self._update()
        batch: list[str] = []
        likely: set[Pair] = set()
        missing: dict[str, list[str]] = {}
        budget = texts
        for story_id in list(self._queue)[:stories]:
            partners = self.index.partners(story_id)
            for needed in [story_id, *partners] if partners else []:
                if needed not in missing and (wanted := self._missing(needed)):
                    missing[needed] = wanted
                    budget -= len(wanted)
            likely.update(pair_of(story_id, partner) for partner in partners)
            batch.append(story_id)
            del self._queue[story_id]
            if budget <= 0:
                break
        self._encode(missing)
        looked = set(batch)
        self._edges = {pair: score for pair, score in self._edges.items() if looked.isdisjoint(pair)}
        for left, right in sorted(likely):
            cosine = float(self._centre(left) @ self._centre(right))
            score = self.index.score(left, right, cosine)
            if score is not None:
                self._edges[left, right] = score
        return self._new(now) if batch else []

    def _new(self, now: float) -> list[Link]:
        known: dict[Pair, float] = {}
        for (left, right), at in self._announced.items():
            pair = pair_of(self.resolve(left), self.resolve(right))
            known[pair] = max(at, known.get(pair, at))
        return [
            link
            for link in self.index.mutual(self._edges)
            if (link.left, link.right) not in known or now - known[link.left, link.right] >= RENEW
        ]

    def _update(self) -> None:
        gone = set()
        for story_id, story in self._touched.items():
            if story.closed or story.alias_of is not None or not story.members:
                gone.add(story_id)
                self.index.drop(story_id)
                self._queue.pop(story_id, None)
                self._centres.pop(story_id, None)
            else:
                try:
                    self.index.put(side_of(story))
                except Exception:
                    # the other stories' links matter more; its next change tries again
                    log.exception("story %s cannot be linked", story_id)
                    continue
                self._queue[story_id] = None
        if gone:
            self._edges = {pair: score for pair, score in self._edges.items() if gone.isdisjoint(pair)}
        self._touched.clear()

    def _story(self, story_id: str) -> Story:
        return next(book.stories[story_id] for book in self._books.values() if story_id in book.stories)

    def _missing(self, story_id: str) -> list[str]:
        """Texts to encode before the story's centre is known; [] when it is, and up to date."""
        members = representatives(self._story(story_id))
        key: _Key = tuple((m.article.article_id, m.article.version) for m in members)
        kept = self._centres.get(story_id)
        return [] if kept is not None and kept[0] == key else [m.card.text for m in members]

    def _encode(self, missing: dict[str, list[str]]) -> None:
        texts = [text for wanted in missing.values() for text in wanted]
        vectors = [v for at in range(0, len(texts), _BATCH) for v in self._encoder.encode(texts[at : at + _BATCH])]
        at = 0
        for story_id, wanted in missing.items():
            members = representatives(self._story(story_id))
            key: _Key = tuple((m.article.article_id, m.article.version) for m in members)
            self._centres[story_id] = (key, centre(vectors[at : at + len(wanted)]).astype(np.float16))
            at += len(wanted)

    def _centre(self, story_id: str) -> npt.NDArray[np.float32]:
        return self._centres[story_id][1].astype(np.float32)


def _slim(change: Change) -> Change:
    """The change without what only clustering needs."""
    article, card = change.article, change.card
    if article is None:
        return change
    kept = replace(
        article, title="", core="", vector=_NO_FLOATS, minhash=None, head=_NO_IDS, pairs=_NO_IDS, terms=_NO_IDS,
        counts=_NO_FLOATS, lead=_NO_IDS, credits=frozenset(), days=frozenset(),
    )  # fmt: skip
    shown = Shown(card.title, card.snippet, card.publisher_id) if card is not None else Shown("", "", "")
    return replace(change, article=kept, card=shown, evidence={})
