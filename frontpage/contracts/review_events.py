"""What persons say of stories: `story.reviews` (merges held and decided) and `story.ratings` (pairs labelled).

One topic for held and decided merges, so that a writer's state is what the topic says. `held` comes from the writer, in
the transaction of the decisions around it; `accepted` and `rejected` from `frontpage merges` or the operations page.
The first one counts.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from frontpage.contracts.envelope import Event, Id, Moment
from frontpage.domain.reviews import Review


class StoryReview(Event):
    """`score` and `bar` are log-odds as when it was held; `by` says who decided, empty when held."""

    schema_name: ClassVar[str] = "story.reviews"
    review_id: Id
    language: str
    kind: Literal["held", "accepted", "rejected"]
    stories: list[Id] = Field(min_length=2, max_length=2)
    score: float
    bar: float
    by: str = Field("", max_length=256)
    at: Moment


class RatedArticle(BaseModel):
    """What the person was shown of an article, within the licence."""

    model_config = ConfigDict(extra="allow", frozen=True)
    article_id: Id
    title: str = Field(max_length=2_000)
    snippet: str = Field("", max_length=1_000)
    publisher_id: Id
    first_seen_at: Moment | None = None


class PairRating(Event):
    """`story.ratings`: one person's answer whether two articles report one event (`same`).

    kind: how the pair was found, inside a story or similar but apart. cosine: of their vectors. seen: impressions of
    their stories.
    """

    schema_name: ClassVar[str] = "story.ratings"
    pair_id: Id
    language: str
    left: RatedArticle
    right: RatedArticle
    kind: Literal["inside", "apart"]
    same: bool
    cosine: float
    seen: int
    by: str = Field(max_length=256)
    at: Moment


def to_event(review: Review) -> StoryReview:
    """The record of a merge that was just held."""
    return StoryReview(
        review_id=review.review_id, language=review.language, kind="held", stories=list(review.stories),
        score=review.score, bar=review.bar, at=review.at,
    )  # fmt: skip


def from_event(event: StoryReview) -> Review:
    """The review of a `held` record."""
    left, right = event.stories
    return Review(event.review_id, event.language, (left, right), event.score, event.bar, event.at)
