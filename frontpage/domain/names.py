"""The growing dictionary of names: how forms of a name are one, which names are worth learning, and their look-up.

The batch layer counts the candidates of `name_candidates.py` and keeps what `supported` says: a name is one when
several publishers use it, in their own words, in more than one story. The tagger (`entities.py`) then finds it where
grammar and script hide it: at the head of a sentence, among German nouns, inflected, in scripts without capitals.
Not for places, which a gazetteer links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

#: Independent publishers and stories that make a candidate a name. Set by hand: two papers share a slip (one agency,
#: one owner), and a single story is not worth a dictionary.
PUBLISHERS: Final = 3
STORIES: Final = 2
#: Names a language's dictionary holds at most, most stories first: about 3 MB in an enrich worker.
LARGEST: Final = 20_000
#: Words and characters of the longest name that is looked up.
WORDS: Final = 4
CHARACTERS: Final = 16

_SLAVIC: Final = frozenset({"ru", "uk"})
#: Case endings of Russian and Ukrainian names, longest first. `-ом` and `-ем` also end stems (Газпром): see `forms`.
_ENDINGS: Final = re.compile(
    r"(?:ого|ому|ыми|ими|ами|ями|ому|ой|ою|ую|юю|ая|яя|ый|ий|ым|им|ых|их|ах|ях|ам|ям|ом|ем|[аяуюеыиоьйі])$"
)
_STEM_OM: Final = re.compile(r"[ое]м$")
_NOMINATIVES: Final = ("", "а", "я", "ь", "й", "ы", "и", "о", "е", "я", "ия", "ая", "ий", "ый")
#: Languages whose place names stand in texts in other forms than in a gazetteer.
INFLECTED: Final = _SLAVIC | {"ar"}
#: One-letter words that Arabic writes onto the next: and, so, in, for, like; `لل` is `ل` and the article.
_CLITICS: Final = re.compile(r"^(?:[وفبلك])(?=\w{3})")
_PARTS: Final = re.compile(r"[ ・·]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A learnt name of one language: its most used spelling and its support.

    alone: a bare German noun, which only counts as the last word of a longer name.
    """

    name: str
    publishers: int
    stories: int
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """Forms (as `form` folds them) to canonical names, of one language."""

    version: str = ""
    by_form: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.by_form)

    def find(self, words: str, language: str) -> str | None:
        """The canonical name that `words` (as they stand in a text) spell, inflected or not."""
        for one in forms(words, language):
            if one in self.by_form:
                return self.by_form[one]
        return None


def supported(publishers: int, stories: int) -> bool:
    """Whether a candidate of so many publishers and stories is a name."""
    return publishers >= PUBLISHERS and stories >= STORIES


def form(name: str, language: str) -> str:
    """What the spellings of one name share: case folded, Russian and Ukrainian case endings cut."""
    words = name.replace("’", "'").removesuffix("'s").casefold().split()
    if language in _SLAVIC:
        words = [_stem(word) for word in words]
    return " ".join(words)


def forms(name: str, language: str) -> list[str]:
    """Forms under which a spelling may be known, the likeliest first."""
    found = [form(name, language)]
    if language in _SLAVIC:
        last = name.casefold().split()[-1] if name.split() else ""
        if _STEM_OM.search(last):
            found.append(" ".join([*found[0].split()[:-1], last]))
    elif language == "ar":
        if name.startswith("لل"):
            found.append("ال" + name[2:])
        bare = _CLITICS.sub("", name)
        if bare != name:
            found.append(bare)
    return found


def nominatives(name: str, language: str) -> list[str]:
    """Folded spellings that a place of these words may have in a gazetteer, which knows nominatives only."""
    if language == "ar":
        return forms(name, language)
    stem = form(name, language)
    return [stem + ending for ending in _NOMINATIVES]


def dictionary(entries: Iterable[Entry], language: str, version: str = "") -> Names:
    """The look-up table of a language: each name, and the last word of the only name that ends in it.

    A last word stands for its name only where it was learnt by itself: `Reis` for `Ana Reis`, when papers write so.
    """
    chosen = sorted(entries, key=lambda entry: (-entry.stories, -entry.publishers, entry.name))[:LARGEST]
    by_form: dict[str, str] = {}
    singles: set[str] = set()
    for entry in chosen:
        key = form(entry.name, language)
        if not entry.alone:
            by_form.setdefault(key, entry.name)
        if not _PARTS.search(entry.name):
            singles.add(key)
    owners: dict[str, set[str]] = {}
    for entry in chosen:
        parts = _PARTS.split(entry.name)
        if len(parts) > 1:
            owners.setdefault(form(parts[-1], language), set()).add(entry.name)
    for last, names in owners.items():
        if last in singles and len(names) == 1:
            by_form[last] = min(names)
    if language in _SLAVIC:
        _join_stems(by_form)
    return Names(version, by_form)


def _stem(word: str) -> str:
    cut = _ENDINGS.sub("", word)
    return cut if len(cut) >= 3 else word


def _join_stems(by_form: dict[str, str]) -> None:
    """Газпром (cut to `газпр`) and Газпрома (`газпром`) are one: the spelling in the nominative names both."""
    for short in list(by_form):
        for ending in ("ом", "ем"):
            if short + ending in by_form and by_form[short].casefold() == short + ending:
                by_form[short + ending] = by_form[short]
