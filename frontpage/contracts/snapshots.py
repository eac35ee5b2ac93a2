"""`story.snapshots`: a writer's book as it stood at one sequence, cut into parts that fit into a record each.

A snapshot is the parts of one `snapshot_id`; the last one says how many there are, so that one that was broken off is
seen as such. `rows` are stories, then their members in order of joining, aliases, and articles of closed stories; a
member carries what its `story.changes` record carried. Reading and writing them: `streaming/cluster/snapshots.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from pydantic import ValidationError

from frontpage.contracts.envelope import Event, Moment
from frontpage.contracts.events import ArticleCard, Signals
from frontpage.contracts.story_codec import from_signals, to_signals
from frontpage.domain.story import Member, Story, StoryBook
from frontpage.errors import UnreadableEvent

#: Bytes of rows in a part: well below a record's megabyte, and about 0.02 s of encoding, for which articles wait.
PART: Final = 300_000
#: Ids in one row of aliases or of articles of closed stories.
_IDS: Final = 2_000
_NO_ROWS: Final = b"[]}"


class SnapshotPart(Event):
    """One part. `offset`: where in `story.changes` the changes after `sequence` begin, or earlier."""

    schema_name: ClassVar[str] = "story.snapshots"
    snapshot_id: str
    sequence: int
    offset: int
    part: int
    #: how many there are; 0 in all but the last
    parts: int = 0
    at: Moment
    rows: list[dict[str, Any]] = []


def freeze(book: StoryBook) -> list[tuple[dict[str, Any], list[Member]]]:
    """The book as it stands, cheap to take: members are never changed in place, only replaced."""
    frozen: list[tuple[dict[str, Any], list[Member]]] = [
        (
            {
                "story": story.story_id, "language": story.language, "created_at": story.created_at,
                "updated_at": story.updated_at, "repaired_at": story.repaired_at, "history": list(story.history),
            },
            list(story.members.values()),
        )
        for story in book.stories.values()
    ]  # fmt: skip
    for name, held in (("aliases", book.aliases), ("departed", book.departed)):
        pairs = list(held.items())
        frozen += [({name: dict(pairs[at : at + _IDS])}, []) for at in range(0, len(pairs), _IDS)]
    return frozen


def encode_parts(
    frozen: Iterable[tuple[dict[str, Any], list[Member]]], head: SnapshotPart, size: int = PART
) -> Iterator[bytes]:
    """Records of a snapshot, made one by one as they are asked for; `head` says whose it is."""
    number, held = 0, 0
    rows: list[bytes] = []
    for row in _rows(frozen):
        if held + len(row) > size and rows:
            yield _record(head, number, 0, rows)
            number, held, rows = number + 1, 0, []
        rows.append(row)
        held += len(row)
    yield _record(head, number, number + 1, rows)


def thaw(parts: Iterable[SnapshotPart]) -> StoryBook:
    """The book of a snapshot whose parts are given in order; raises UnreadableEvent."""
    book = StoryBook()
    try:
        for part in parts:
            book.sequence = part.sequence
            for row in part.rows:
                if "card" in row:
                    _member(book.stories[row["in"]], row)
                elif "story" in row:
                    story = Story(row["story"], row["language"], row["created_at"], row["updated_at"])
                    story.repaired_at, story.history = row["repaired_at"], row["history"]
                    book.stories[story.story_id] = story
                else:
                    book.aliases |= row.get("aliases", {})
                    book.departed |= row.get("departed", {})
    except (KeyError, TypeError, ValidationError) as error:
        raise UnreadableEvent(f"{type(error).__name__}: {error}"[:200], cause="invalid-fields") from None
    book.story_of = {name: story.story_id for story in book.stories.values() for name in story.members}
    return book


def _rows(frozen: Iterable[tuple[dict[str, Any], list[Member]]]) -> Iterator[bytes]:
    for head, members in frozen:
        yield json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        for member in members:
            row = {
                "in": head["story"], "card": member.card.model_dump(mode="json"),
                "signals": to_signals(member.article).model_dump(mode="json"), "joined_at": member.joined_at,
                "copy_of": member.copy_of, "score": member.score, "evidence": dict(member.evidence),
            }  # fmt: skip
            yield json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _record(head: SnapshotPart, number: int, parts: int, rows: list[bytes]) -> bytes:
    """`rows` is the last field, and empty in what `encode` writes: they go in as they are."""
    whole = head.model_copy(update={"part": number, "parts": parts, "rows": []}).encode()
    return whole.removesuffix(_NO_ROWS) + b"[" + b",".join(rows) + b"]}"


def _member(story: Story, row: dict[str, Any]) -> None:
    card = ArticleCard.model_validate(row["card"])
    article = from_signals(card, Signals.model_validate(row["signals"]))
    story.add(Member(article, card, row["joined_at"], row["copy_of"], row["score"], row["evidence"]))
