"""The sentence grammar: choices, fields, and texts that say what their fields mean in every language."""

from __future__ import annotations

import re
from random import Random

import pytest

from data_samples.events import EVENTS_OF
from data_samples.grammar import draw, fill, grown, kinds, options, spin

LANGUAGES = sorted(EVENTS_OF)
GIVEN = {
    "city", "region", "country", "day", "part", "near1", "near2", "near3", "p1", "p1s", "p2", "p2s", "p3", "p3s",
    "p4", "p4s", "o1", "o2", "topic",
}  # fmt: skip
#: Fields that the maker of a fixed form supplies.
SUPPLIED = {
    "claim", "place", "home", "away", "score", "scorer", "ground", "minute", "crowd", "rank", "next", "index", "dir",
    "pct", "points", "mover", "mpct", "yield", "oil", "other", "v", "u", "sky", "then",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("frames", [False, True])
def test_every_field_in_a_text_is_known_and_every_bracket_closed(language: str, frames: bool) -> None:
    for kind in kinds(language, frames=frames).values():
        known = GIVEN | set(kind.fields) | (SUPPLIED if frames else set())
        for line in (*kind.fields.values(), *(line for lines in kind.lines.values() for line in lines)):
            assert set(re.findall(r"\{(\w+)\}", line)) <= known, (kind.name, line)
            assert line.count("[") == line.count("]"), (kind.name, line)
            depth = 0
            for character in line:
                depth += (character == "[") - (character == "]")
                assert depth >= 0, (kind.name, line)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_can_be_reported(language: str) -> None:
    for kind in kinds(language).values():
        assert {"T", "H", "L", "Q"} <= kind.lines.keys(), kind.name
        assert len(kind.lines["H"]) >= 2
        assert len(kind.facts) >= 3


def test_choices_nest_and_fields_may_hold_choices() -> None:
    seen = {spin("[a|b[c|d]]", Random(n)) for n in range(40)}
    assert seen == {"a", "bc", "bd"}
    filled = {fill("{x} end", {"x": "[one|two]"}, Random(n)) for n in range(40)}
    assert filled == {"One end", "Two end"}


def test_bars_inside_brackets_do_not_divide_a_fields_values() -> None:
    assert options("[a|b] c|d") == ["[a|b] c", "d"]


def test_no_value_is_dealt_twice_before_all_were_dealt() -> None:
    dealt = [draw("a|b|c|d", Random(1), deal, Random(9)) for deal in range(4)]
    assert sorted(dealt) == ["a", "b", "c", "d"]


def test_a_growing_number_grows_to_its_final_value_and_is_never_zero() -> None:
    steps = [int(grown("60", progress / 10)) for progress in range(-1, 13)]
    assert steps == sorted(steps)
    assert steps[-1] == 60
    assert grown("1", 0.0) == "1"


def test_an_article_before_a_vowel_is_an() -> None:
    assert fill("a apple and a pear, a 8-year plan", {}, Random(0)) == "An apple and a pear, an 8-year plan"
