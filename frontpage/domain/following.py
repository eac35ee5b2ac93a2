"""A clusterer that follows the changes of another: what a warm standby does between tenures.

The same state as having decided the change, without deciding it: an article that joins is added to the indexes, not its
whole story rebuilt, so that following costs less than leading. Not for reading the log (streaming/cluster/rebuild.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontpage.domain.clustering import Clusterer
    from frontpage.domain.story import Change


def follow(clusterer: Clusterer, change: Change) -> None:
    """Apply a change that another writer decided; one that the book has changes nothing."""
    book, article = clusterer.book, change.article
    if change.kind not in ("create", "assign") or article is None or article.article_id in book.story_of:
        clusterer.apply(change)
        return
    if not book.apply(change):
        return
    if change.kind == "create":
        clusterer._observe(article, change.at)
    prepared = clusterer.policy(article.language).scorer.prepare(article)
    story_id = book.story_of[article.article_id]
    clusterer.index(article.language).add(story_id, prepared, original=change.copy_of is None)
