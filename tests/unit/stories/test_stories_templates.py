"""Series pieces stay apart where one word matters; versions of one report stay together."""

from __future__ import annotations

import pytest
from fakes.stories import FERRY, article

from frontpage.domain.marks import core_title, credit_keys, day_marks, is_standing, number_marks
from frontpage.domain.templates import APART, headline, penalty
from frontpage.domain.terms import tokens

HOUR = 3600.0


def judge(left, right, gap=0.0, *, texts=("", ""), rare=()):
    a, b = article("a", left, texts[0], at=0.0), article("b", right, texts[1], at=gap)
    unknown = [[word for word in tokens(side.core) if word in rare] for side in (a, b)]
    one = penalty(headline(a.core, unknown[0]), headline(b.core, unknown[1]), a, b)
    assert one == penalty(headline(b.core, unknown[1]), headline(a.core, unknown[0]), b, a)
    return one


@pytest.mark.parametrize(
    ("left", "right", "hours"),
    [
        ("Pollen count for Millbrook: high all day", "Pollen count for Harnham: high all day", 0),
        ("Weather for Millbrook: sun and wind", "Weather for Harnham: sun and wind", 0),
        ("Pollen count for Millbrook: high on Monday", "Pollen count for Millbrook: high on Thursday", 72),
        ("Landslide blocks 3 km of road near Tor", "Landslide blocks 5 km of road near Tor", 40),
        ("United 3-0 Wanderers: as it happened", "United 0-3 Wanderers: as it happened", 1),
        ("Draw numbers for 12 May", "Draw numbers for 15 May", 72),
        ("Bridge Club North elects new treasurer", "Bridge Club South elects new treasurer", 1),
        ("Interview: the clockmaker of Aldwick", "Review: the clockmaker of Aldwick", 0),
        ("Analysis: Weir report | Town", "Analysis: Tram report | Town", 0),
        ("Letters to the editor", "Letters to the editor", 168),
        ("Market hall burns down in Tor", "Market hall burns down in Tor", 24 * 20),
    ],
)
def test_kept_apart(left, right, hours):
    assert judge(left, right, hours * HOUR) == APART


@pytest.mark.parametrize(
    ("left", "right", "hours"),
    [
        ("At least 4 hurt as tram derails in Tor", "At least 11 hurt as tram derails in Tor", 5),
        ("Mayor of Tor resigns over bridge report", "Mayor of Tor resigns after report on bridge", 2),
        ("Council confirms plan for Tor", "Council announces plan for Tor", 1),
        ("Letters to the editor", "Letters to the editor", 1),
        ("Market hall burns down in Tor", "Market hall burns down in Tor", 10),
    ],
)
def test_not_kept_apart(left, right, hours):
    assert judge(left, right, hours * HOUR) == 0.0


def test_a_name_unknown_to_the_language_counts_even_as_the_first_word():
    pair = (
        "Millbrook draws hundreds to protest against the dairy",
        "Harnham draws hundreds to protest against the dairy",
    )
    assert judge(*pair) == 0.0
    assert judge(*pair, rare=("millbrook", "harnham")) == APART


def test_equal_beginnings_outweigh_other_names_in_the_title():
    assert judge("Ferry sinks off Port Sela", "Ferry sinks off Cape Orr", texts=(FERRY, FERRY)) == 0.0


@pytest.mark.parametrize(
    ("title", "core"),
    [
        ("Opinion | Why the mill must stay - The Weekly Lantern", "Why the mill must stay"),
        ("Guest column: Why the mill must stay", "Why the mill must stay"),
        ("LIVE: Council votes on the mill", "Council votes on the mill"),
        ("UPDATE 2-Council votes on the mill", "Council votes on the mill"),
        ("(Update 3) Council votes on the mill", "Council votes on the mill"),
        ("Weekly Lantern: Council votes on the mill", "Council votes on the mill"),
        ("Council votes on the mill - Weekly Lantern - Town", "Council votes on the mill"),
        ("Council votes: mill stays - for now", "Council votes: mill stays - for now"),
        ("Live", "Live"),
    ],
)
def test_core_title(title, core):
    found = core_title(title, domain="weekly.lantern.example")
    assert found == core
    assert core_title(found, domain="weekly.lantern.example") == found


def test_marks():
    assert number_marks("1,330 dead, 2-1 and 1-2, up 3.5") == {"1330", "2-1", "1-2", "3.5"}
    assert day_marks("On Tuesday 4 March, not on 5. März") == {"d2", "m3-4", "m3-5"}
    assert credit_keys("PORT SELA (Reuters) - A ferry. Reporting by Jo Moll; editing by Al Orr") >= {
        "reuters",
        "by:jo moll",
    }
    assert is_standing("Letters to the editor")
    assert not is_standing("Editor quits over letters")
