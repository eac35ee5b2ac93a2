"""The 48-hour re-clustering as pure functions: Spark calls them by group, `frontpage cluster --repair` at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from frontpage.domain.story import Evidence


@dataclass(frozen=True, slots=True)
class Proposal:
    """A merge of `stories` into one, or a split of one story into `groups` of article ids (largest first)."""

    proposal_id: str
    language: str
    kind: Literal["merge", "split"]
    stories: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    evidence: Evidence = field(default_factory=dict)
    at: float = 0.0
