"""The enrich process: items.raw -> page -> article with identity and features -> articles.normalised.

One batch is one Kafka transaction. Before it, each article is offered to its row in Redis (new, update, duplicate or
repeat); after it, the versions are confirmed. Whatever dies in between, the batch is handled again and the row answers
`repeat`: an event may come twice with the same version, and none is lost.

Only what `speaks` is derived, encoded and given a thumbnail. The page's body ends here (licence boundary): what leaves
is card, signals and hashes. Not here: fetching and reading (`pages.py`), identity (`adapters/article_rows.py`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from frontpage.adapters.article_rows import ArticleRows, Ruling
from frontpage.adapters.bus import Outgoing, Record
from frontpage.adapters.encoder import EncoderSet, keep_to_one_thread
from frontpage.adapters.loop import dead_letter, decoded, run_transactional
from frontpage.adapters.name_store import NameStore
from frontpage.adapters.parse.gazetteer import gazetteer
from frontpage.adapters.section_store import SectionStore
from frontpage.adapters.slogan_store import SloganStore
from frontpage.contracts.events import FeedItem
from frontpage.contracts.topics import ITEMS_RAW
from frontpage.domain.article import ArticleSignals, embedding_text
from frontpage.domain.ids import article_id, digest
from frontpage.domain.section_model import SectionModel
from frontpage.domain.slogans import without
from frontpage.runtime import Runtime, run_process
from streaming.ingest.events import event_of, offer_of, signals_of
from streaming.ingest.labels import Labeller, Labels, with_guess
from streaming.ingest.pages import Dead, Draft, Dropped, Fate, Later, Pages, page_key
from streaming.ingest.publishers import PublisherBook
from streaming.ingest.thumbs import Thumbs
from streaming.ingest.wiring import fetch_tier

if TYPE_CHECKING:
    from frontpage.adapters.clock import Clock
    from frontpage.adapters.fetch import FetchTier

log = logging.getLogger(__name__)

PROCESS: Final = "enrich"
#: Items of a batch: about three seconds of work, far below Kafka's max.poll.interval (300 s) even with every page slow.
BATCH: Final = 96
#: Sightings (address and title) remembered, so that a second feed's sighting costs no second fetch.
REMEMBERED: Final = 100_000

#: Thumbnail ids by image address, then labels and signals of each article.
Features = tuple[dict[str, str], list[Labels], list[ArticleSignals]]


class Enrich:
    """`Work` of the transactional loop. `pages` and `thumbs` run in `runner`'s event loop."""

    def __init__(
        self,
        pages: Pages,
        thumbs: Thumbs | None,
        *,
        rows: ArticleRows,
        encoders: EncoderSet,
        labeller: Labeller,
        clock: Clock,
        runner: asyncio.Runner,
        sections: Callable[[str], SectionModel | None] = lambda _: None,
        slogans: Callable[[str], list[str]] = lambda _: [],
    ) -> None:
        self._pages = pages
        self._thumbs = thumbs
        self._rows = rows
        self._encoders = encoders
        self._labeller = labeller
        self._sections = sections
        self._slogans = slogans
        self._clock = clock
        self._runner = runner
        # one thread: encoders do not gain from more, and each would keep memory of its own
        self._thread = ThreadPoolExecutor(1, "features")
        self._unconfirmed: list[tuple[str, int]] = []
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._seeing: list[str] = []
        self.counts: Counter[str] = Counter()
        self._counting: Counter[str] = Counter()

    def handle(self, records: list[Record]) -> list[Outgoing]:
        """See `loop.Work`. Every record is counted under exactly one fate."""
        self._begin()
        now = self._clock.now()
        items, out = decoded(records, FeedItem, PROCESS, now)
        self._counting["unreadable"] += len(out)
        self._counting["tombstone"] += len(records) - len(items) - len(out)
        fresh = [(record, item) for record, item in items if _sighting(item) not in self._seen]
        self._counting["known"] += len(items) - len(fresh)
        out.extend(self._runner.run(self._articles(fresh, now)))
        return out

    async def _articles(self, fresh: list[tuple[Record, FeedItem]], now: float) -> list[Outgoing]:
        """Portion by portion: while one is encoded in a thread, the next is read and offered."""
        out: list[Outgoing] = []
        known: set[tuple[str, int]] = set()
        working: list[tuple[list[tuple[Draft, Ruling]], asyncio.Task[Features]]] = []
        try:
            async for fates in self._pages.stream(fresh):
                drafts: list[Draft] = []
                for fate in fates:
                    out.extend(self._settle(fate, drafts, now))
                if speaking := self._offered(drafts, known):
                    working.append((speaking, asyncio.create_task(self._features(speaking))))
                    await asyncio.sleep(0)  # lets the task hand its work to a thread
            for speaking, task in working:
                out.extend(self._events(speaking, await task))
        finally:
            for _, task in working:
                task.cancel()
            await asyncio.gather(*(task for _, task in working), return_exceptions=True)
        self._unconfirmed = list(known)
        return out

    def _offered(self, drafts: list[Draft], known: set[tuple[str, int]]) -> list[tuple[Draft, Ruling]]:
        """The drafts that speak. `known` are the versions of this batch so far."""
        speaking: list[tuple[Draft, Ruling]] = []
        for draft, ruling in zip(drafts, self._rows.offer([offer_of(draft) for draft in drafts]), strict=True):
            version = (article_id(draft.canonical), ruling.version)
            # a second sighting within the batch finds the first one pending: that is no crash to repair
            speaks = ruling.speaks and version not in known
            self._counting[ruling.verdict if speaks else "duplicate"] += 1
            if not draft.from_feed:
                self._seeing.append(_sighting(draft.item))
            if speaks:
                known.add(version)
                speaking.append((draft, ruling))
                self._counting["from_feed"] += draft.from_feed
        return speaking

    def committed(self, records: list[Record]) -> None:
        """After the commit: the versions are known to be in Kafka."""
        del records
        self._rows.confirm(self._unconfirmed)
        self.counts += self._counting
        for sighting in self._seeing:
            self._seen[sighting] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        self._begin()

    def dropped(self) -> None:
        """After an aborted transaction: what was counted did not happen."""
        self._begin()

    def _begin(self) -> None:
        self._unconfirmed, self._seeing, self._counting = [], [], Counter()

    def _settle(self, fate: Fate, drafts: list[Draft], now: float) -> Sequence[Outgoing]:
        if isinstance(fate, Draft):
            title = without(fate.title, self._slogans(fate.publisher.publisher_id))
            drafts.append(fate if title == fate.title else replace(fate, title=title))
        elif isinstance(fate, Later):
            self._counting["later"] += 1
            return [Outgoing(ITEMS_RAW.name, fate.record.key, fate.item.encode())]
        elif isinstance(fate, Dropped):
            self._counting["opted_out"] += 1
        elif isinstance(fate, Dead):
            self._counting["dead"] += 1
            return [dead_letter(fate.record, fate.error, PROCESS, now, attempts=fate.attempts)]
        return []

    def _events(self, speaking: list[tuple[Draft, Ruling]], features: Features) -> list[Outgoing]:
        thumbs, labels, signals = features
        now = self._clock.now()
        return [
            event_of(draft, ruling, found, signal, thumb=thumbs.get(draft.image or ""), now=now)
            for (draft, ruling), found, signal in zip(speaking, labels, signals, strict=True)
        ]

    async def _features(self, speaking: list[tuple[Draft, Ruling]]) -> Features:
        """Thumbnails, which wait for their hosts, while a thread computes labels, signals and vectors."""
        wanted = [draft.image for draft, _ in speaking if draft.image and draft.publisher.thumb_allowed]

        def compute() -> tuple[list[Labels], list[ArticleSignals]]:
            labels = [self._labeller.label(draft) for draft, _ in speaking]
            signals = [
                signals_of(draft, ruling, found) for (draft, ruling), found in zip(speaking, labels, strict=True)
            ]
            signals = self._encoded(speaking, signals)
            return [self._guessed(one, signal) for one, signal in zip(labels, signals, strict=True)], signals

        images = asyncio.create_task(self._thumbs.make(wanted)) if self._thumbs is not None else None
        try:
            labels, signals = await asyncio.get_running_loop().run_in_executor(self._thread, compute)
            return (await images if images is not None else {}), labels, signals
        finally:
            if images is not None:
                images.cancel()

    def _guessed(self, labels: Labels, signals: ArticleSignals) -> Labels:
        if labels.sections:
            return labels
        return with_guess(labels, self._sections(signals.encoder), signals.vector, signals.encoder)

    def _encoded(self, speaking: list[tuple[Draft, Ruling]], signals: list[ArticleSignals]) -> list[ArticleSignals]:
        """The signals with their vectors, one call per encoder."""
        groups: dict[str, list[int]] = {}
        for index, (draft, _) in enumerate(speaking):
            groups.setdefault(self._encoders.for_language(draft.language).version, []).append(index)
        done = list(signals)
        for version, indices in groups.items():
            encoder = self._encoders.for_language(speaking[indices[0]][0].language)
            vectors = encoder.encode(
                [embedding_text(d.title, d.lead, d.body) for d in (speaking[index][0] for index in indices)]
            )
            for index, vector in zip(indices, vectors, strict=True):
                done[index] = signals[index].with_vector(vector, version)
        return done


def _sighting(item: FeedItem) -> str:
    return digest(f"{page_key(item)}\n{item.title}", 16)


def warm(encoders: EncoderSet) -> None:
    """Load the models before the group is joined, and keep them to one thread.

    The first batch would otherwise wait half a minute for imports with its partitions already assigned.
    """
    for language in ("en", "de"):
        encoders.for_language(language).encode(["warm"])
    keep_to_one_thread()


async def _opened(runtime: Runtime) -> FetchTier:
    return fetch_tier(runtime)


def main(runtime: Runtime, stop: threading.Event) -> None:
    """Entry point of the process. Several may run; Kafka shares the partitions of `items.raw` among them."""
    settings = runtime.settings
    with asyncio.Runner() as runner:
        tier = runner.run(_opened(runtime))
        pages = Pages(tier, PublisherBook(runtime.redis), runtime.clock)
        encoders = EncoderSet.from_names(settings.encoder_en, settings.encoder_other)
        warm(encoders)
        work = Enrich(
            pages,
            Thumbs(tier, runtime.redis),
            rows=ArticleRows(runtime.redis),
            encoders=encoders,
            labeller=Labeller(gazetteer(), NameStore(runtime.redis)),
            clock=runtime.clock,
            runner=runner,
            sections=SectionStore(runtime.redis),
            slogans=SloganStore(runtime.redis),
        )

        def beat() -> None:
            runtime.heartbeat(PROCESS, **work.counts)

        try:
            run_transactional(
                runtime.bus,
                process=PROCESS,
                group=PROCESS,
                topics=[ITEMS_RAW.name],
                # the same name after a restart: it ends the transaction that a killed predecessor left open
                transactional_id=f"{PROCESS}-{settings.worker}",
                work=work,
                clock=runtime.clock,
                stop=stop,
                max_records=BATCH,
                after_commit=work.committed,
                rollback=work.dropped,
                idle=beat,
            )
        finally:
            runner.run(tier.close())


if __name__ == "__main__":
    run_process(PROCESS, main)
