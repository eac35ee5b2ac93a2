"""Authors: people out of by-lines, and no more people than there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.adapters.parse.structured import read_structured
from frontpage.domain.bylines import LONGEST, people


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Ann Lee", ["Ann Lee"]),
        ("By Ann Lee and Bo Ray", ["Ann Lee", "Bo Ray"]),
        ("Ann Lee, Bo Ray & Cy Day", ["Ann Lee", "Bo Ray", "Cy Day"]),
        ("Von Ann Lee und Bo Ray", ["Ann Lee", "Bo Ray"]),
        ("Por Ana Lima y Eva Ruiz", ["Ana Lima", "Eva Ruiz"]),
        ("José Ortega y Gasset", ["José Ortega y Gasset"]),
        ("Antoni Rovira i Virgili", ["Antoni Rovira i Virgili"]),
        ("Lee, Ann", ["Lee, Ann"]),
        ("Ann Lee, Staff Writer", ["Ann Lee"]),
        ("Ann Lee, Political Correspondent, and Bo Ray", ["Ann Lee", "Bo Ray"]),
        ("Ann Lee | Bay Desk", ["Ann Lee"]),
        ("Ann Lee (ann@bay.test)", ["Ann Lee"]),
        ("Sport and Weather", ["Sport and Weather"]),
        ("The Editorial Board", ["The Editorial Board"]),
        ("بقلم: أحمد علي", ["أحمد علي"]),
        ("文／陳小明", ["陳小明"]),
        ("陳小明、王大中", ["陳小明", "王大中"]),
        ("文在寅", ["文在寅"]),
        ("<a href='/a'>Ann&nbsp;Lee</a>", ["Ann Lee"]),
        ("https://bay.test/ann", []),
        ("ann@bay.test", []),
        ("admin", []),
        ("null", []),
        ("", []),
    ],
)
def test_names_in_a_byline(line, names):
    assert people([line]) == names


def test_everyone_once_in_order():
    assert people(["Bo Ray", "Ann Lee, Bo Ray", "by Bo Ray"]) == ["Bo Ray", "Ann Lee"]


@given(st.lists(st.text(max_size=100), max_size=4))
def test_any_byline_gives_short_names(lines):
    assert all(1 < len(name) <= LONGEST and "@" not in name for name in people(lines))


def test_references_to_people_and_pictures_are_followed():
    data = read_structured(
        [
            '{"@graph":[{"@type":"NewsArticle","headline":"x","author":[{"@id":"#a"},{"name":"Bo Ray"}],"image":{"@id":"#i"},'
            '"publisher":{"@id":"#p"}},{"@id":"#a","@type":"Person","name":"Ann Lee"},'
            '{"@id":"#i","@type":"ImageObject","url":"https://bay.test/i.jpg"},'
            '{"@id":"#p","@type":"Organization","name":"Bay Desk"}]}'
        ]
    )
    assert (data.authors, data.image, data.publisher) == (["Ann Lee", "Bo Ray"], "https://bay.test/i.jpg", "Bay Desk")


def test_a_reference_to_nobody_is_nobody():
    data = read_structured(['{"@type":"NewsArticle","headline":"x","author":{"@id":"#gone"},"image":{"@id":"#gone"}}'])
    assert data.authors == []
