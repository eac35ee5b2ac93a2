"""Helpers for word tables, which are written as blank-separated text so that they stay readable."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The blank-separated words of a table."""
    return frozenset(text.split())


def names(text: str) -> tuple[str, ...]:
    """The blank-separated words of a table whose order matters."""
    return tuple(text.split())


def alternatives(text: str) -> str:
    """A regular expression for any of the blank-separated patterns; an underscore stands for white space."""
    return "(?:" + "|".join(part.replace("_", r"\s+") for part in text.split()) + ")"
