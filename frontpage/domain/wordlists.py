"""One helper for the word tables of the domain, which are written as blank-separated text to stay readable."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The blank-separated words of a table."""
    return frozenset(text.split())
