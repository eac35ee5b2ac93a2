"""Merges that wait for a person, for the command line and the operations page: what is open, and how it is decided.

Read from the topic at each call: there are a few a day, and an operator can wait half a second. Headlines come from the
story rows in Redis; a review whose stories are no longer two open stories is not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from frontpage.adapters.bus import Bus, Outgoing
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.review_events import StoryReview
from frontpage.contracts.topics import STORY_REVIEWS
from frontpage.contracts.views import STORY, StoryRow
from frontpage.domain.languages import partition_of
from frontpage.domain.reviews import Decision
from frontpage.errors import NotFound, UnreadableEvent, UnreadableInput

if TYPE_CHECKING:
    import redis

#: Members of each story that a person is shown.
SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two stories: its articles' headlines with their publishers, oldest first."""

    story_id: str
    articles: int
    headlines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OpenReview:
    """A held merge that can be decided."""

    event: StoryReview
    sides: tuple[Side, Side]


def open_reviews(bus: Bus, store: redis.Redis) -> list[OpenReview]:
    """Undecided, of stories that are still two; the oldest first. Raises ServiceUnavailable."""
    held: dict[str, StoryReview] = {}
    decided: set[str] = set()
    for event in _events(bus):
        if event.kind == "held":
            held.setdefault(event.review_id, event)
        else:
            decided.add(event.review_id)
    found = []
    for event in sorted(held.values(), key=lambda event: event.at):
        if event.review_id in decided:
            continue
        left, right = (_side(store, story) for story in event.stories)
        if left is not None and right is not None and left.story_id != right.story_id:
            found.append(OpenReview(event, (left, right)))
    return found


def decide(bus: Bus, review_id: str, decision: Decision, by: str, now: float) -> bool:
    """Tell the language's writer; False when it was decided the same way before (nothing is sent then).

    Raises NotFound for a review that never was and UnreadableInput (`decided`) for one decided the other way.
    """
    held = None
    for event in _events(bus):
        if event.review_id != review_id:
            continue
        if event.kind == "held":
            held = held or event
        elif event.kind == decision:
            return False
        else:
            raise UnreadableInput(f"merge {review_id} was {event.kind} by {event.by or 'somebody'}", cause="decided")
    if held is None:
        raise NotFound(f"no merge {review_id} is held")
    told = held.model_copy(update={"kind": decision, "by": by, "at": now})
    producer = bus.producer()
    try:
        producer.send([Outgoing(STORY_REVIEWS.name, told.language, told.encode(), partition_of(told.language))])
    finally:
        producer.close()
    return True


def _events(bus: Bus) -> Iterator[StoryReview]:
    """Held before decided, within a partition in order."""
    for partition, end in bus.end_offsets(STORY_REVIEWS.name).items():
        for record in bus.read(STORY_REVIEWS.name, partition, 0, end) if end else ():
            try:
                event = StoryReview.decode(record.value)
            except UnreadableEvent:
                continue  # bronze has it with its cause
            if event is not None:
                yield event


def _side(store: redis.Redis, story_id: str) -> Side | None:
    for _ in range(2):  # an alias is one hop
        with store_errors():
            value: Any = store.get(STORY.key(story=story_id))
        try:
            row = None if value is None else StoryRow.model_validate_json(value)
        except ValidationError:
            return None
        if row is None or row.closed:
            return None
        if row.alias_of is None:
            members = sorted(row.members, key=lambda member: member.joined_at)[:SHOWN]
            shown = tuple((member.article.title, member.article.publisher) for member in members)
            return Side(row.story_id, len(row.members), shown)
        story_id = row.alias_of
    return None
